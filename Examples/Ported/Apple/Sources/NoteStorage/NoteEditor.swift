//
//  NoteEditor.swift
//  NoteStorage
//

import CoreData

/// Edits one note in a child context: the list shows the edits only after a save.
@objcMembers
public final class NoteEditor: NSObject {

    private let context: NSManagedObjectContext
    public private(set) dynamic var note: Note

    /// Edits an existing note.
    public init(editing original: Note) throws {
        context = NoteEditor.childContext(of: original.managedObjectContext!)
        note = try context.existingObject(with: original.objectID) as! Note
        super.init()
    }

    /// Inserts a note.
    public init(newNoteIn folder: Folder) throws {
        context = NoteEditor.childContext(of: folder.managedObjectContext!)
        let ownFolder = try context.existingObject(with: folder.objectID) as! Folder
        note = Note(title: "", in: ownFolder, context: context)
        super.init()
    }

    private static func childContext(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.parent = parent
        context.undoManager = UndoManager()
        return context
    }

    public var hasChanges: Bool { context.hasChanges }

    public func setTitle(_ title: String) {
        note.title = title
        context.processPendingChanges()
    }

    public func addTag(named name: String) throws {
        let request: NSFetchRequest<Tag> = Tag.fetchRequest()
        request.predicate = NSPredicate(format: "%K ==[c] %@", #keyPath(Tag.name), name)
        let tag =
            try context.fetch(request).first
            ?? {
                let tag = Tag(context: context)
                tag.name = name
                return tag
            }()
        note.addToTags(tag)
        context.processPendingChanges()
    }

    @objc public func undo() {
        context.undo()
    }

    /// Saves the edits to the list's context and to the store.
    @objc public func save() throws {
        try context.save()
        try context.parent?.save()
    }

    public func cancel() {
        context.rollback()
    }
}
