//
//  Tag+CoreDataClass.swift
//  NoteStorage
//

import Foundation
import CoreData

@objc(Tag)
public class Tag: NSManagedObject {

}

extension Tag {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Tag> {
        return NSFetchRequest<Tag>(entityName: "Tag")
    }

    @NSManaged public var name: String?
    @NSManaged public var notes: Set<Note>

}
