//
//  Note+CoreDataProperties.swift
//  NoteStorage
//

import Foundation
import CoreData

extension Note {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Note> {
        return NSFetchRequest<Note>(entityName: "Note")
    }

    @Managed public var body: String?
    @Managed public var createdAt: Date?
    @Managed public var id: UUID?
    @Managed public var isPinned: Bool
    @Managed public var modifiedAt: Date?
    @Managed public var title: String?
    @Managed public var folder: Folder?
    @Managed public var tags: NSSet?

}

// MARK: Generated accessors for tags
extension Note {

    @ManagedMethod public func addToTags(_ value: Tag)

    @ManagedMethod public func removeFromTags(_ value: Tag)

    @ManagedMethod public func addToTags(_ values: NSSet)

    @ManagedMethod public func removeFromTags(_ values: NSSet)

}

extension Note: Identifiable {

}
