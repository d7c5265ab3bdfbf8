//
//  Folder+CoreDataClass.swift
//  NoteStorage
//

import Foundation
import CoreData

@objc(Folder)
public class Folder: NSManagedObject {

    public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }

    public override func validateForInsert() throws {
        try super.validateForInsert()
        if name?.trimmingCharacters(in: .whitespaces).isEmpty ?? true {
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSValidationStringTooShortError,
                userInfo: [NSValidationKeyErrorKey: #keyPath(Folder.name), NSValidationObjectErrorKey: self])
        }
    }
}
