//
//  Tag+CoreDataClass.swift
//  NoteStorage
//

import Foundation
import CoreData

public class Tag: NSManagedObject {

}

extension Tag {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Tag> {
        return NSFetchRequest<Tag>(entityName: "Tag")
    }

    @Managed public var name: String?
    @Managed public var notes: Set<Note>

}
