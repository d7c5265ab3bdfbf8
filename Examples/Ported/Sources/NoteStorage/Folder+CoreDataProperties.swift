//
//  Folder+CoreDataProperties.swift
//  NoteStorage
//

import Foundation
import CoreData

extension Folder {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Folder> {
        return NSFetchRequest<Folder>(entityName: "Folder")
    }

    @Managed public var name: String?
    @Managed public var notes: NSOrderedSet?

}

// MARK: Generated accessors for notes
extension Folder {

    @ManagedMethod public func insertIntoNotes(_ value: Note, at idx: Int)

    @ManagedMethod public func removeFromNotes(at idx: Int)

    @ManagedMethod public func insertIntoNotes(_ values: [Note], at indexes: NSIndexSet)

    @ManagedMethod public func removeFromNotes(at indexes: NSIndexSet)

    @ManagedMethod public func replaceNotes(at idx: Int, with value: Note)

    @ManagedMethod public func replaceNotes(at indexes: NSIndexSet, with values: [Note])

    @ManagedMethod public func addToNotes(_ value: Note)

    @ManagedMethod public func removeFromNotes(_ value: Note)

    @ManagedMethod public func addToNotes(_ values: NSOrderedSet)

    @ManagedMethod public func removeFromNotes(_ values: NSOrderedSet)

}

extension Folder: Identifiable {

}
