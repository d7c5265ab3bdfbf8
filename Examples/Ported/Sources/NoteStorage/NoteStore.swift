//
//  NoteStore.swift
//  NoteStorage
//

import Foundation
import CoreData

/// The contents of a note that is not yet in the store.
public struct NoteDraft {
    public var title: String
    public var body: String
    public var tags: [String]

    public init(title: String, body: String = "", tags: [String] = []) {
        self.title = title
        self.body = body
        self.tags = tags
    }
}

/// The app's notes.
public final class NoteStore {

    public let container: NSPersistentContainer

    public var viewContext: NSManagedObjectContext { container.viewContext }

    public init(url: URL? = nil) {
        container = NSPersistentContainer(name: "NoteStorage")
        if let url = url {
            container.persistentStoreDescriptions.first!.url = url
        }
        container.loadPersistentStores { _, error in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    // MARK: Reading

    /// The folder of that name; inserted if it does not exist.
    public func folder(named name: String, in context: NSManagedObjectContext? = nil) throws -> Folder {
        let context = context ?? viewContext
        let request: NSFetchRequest<Folder> = Folder.fetchRequest()
        request.predicate = NSPredicate(format: "%K ==[c] %@", "name", name)
        request.fetchLimit = 1
        if let folder = try context.fetch(request).first { return folder }
        let folder = Folder(context: context)
        folder.name = name
        return folder
    }

    public func tag(named name: String, in context: NSManagedObjectContext) throws -> Tag {
        let request: NSFetchRequest<Tag> = Tag.fetchRequest()
        request.predicate = NSPredicate(format: "name ==[c] %@", name)
        if let tag = try context.fetch(request).first { return tag }
        let tag = Tag(context: context)
        tag.name = name
        return tag
    }

    /// Notes whose title or body contains a text, pinned ones first.
    public func notes(matching text: String, taggedWith tag: String? = nil) throws -> [Note] {
        let request: NSFetchRequest<Note> = Note.fetchRequest()
        var parts = [
            NSPredicate(
                format: "title CONTAINS[cd] %@ OR body CONTAINS[cd] %@", text, text)
        ]
        if let tag = tag {
            parts.append(NSPredicate(format: "ANY tags.name ==[c] %@", tag))
        }
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        request.sortDescriptors = [
            NSSortDescriptor(key: "isPinned", ascending: false),
            NSSortDescriptor(
                key: "title", ascending: true,
                selector: SortSelector.localizedCaseInsensitiveCompare),
        ]
        return try viewContext.fetch(request)
    }

    public func note(id: UUID) throws -> Note? {
        let request: NSFetchRequest<Note> = Note.fetchRequest()
        request.predicate = NSPredicate(format: "%K == %@", "id", id as CVarArg)
        return try viewContext.fetch(request).first
    }

    // MARK: Writing

    /// Imports notes into a folder on a background queue.
    public func importNotes(_ drafts: [NoteDraft], into folderName: String) throws {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        var failure: Error?
        context.performAndWait {
            do {
                for draft in drafts {
                    try autoreleasepool {
                        let folder = try self.folder(named: folderName, in: context)
                        let note = Note(title: draft.title, in: folder, context: context)
                        note.body = draft.body
                        for name in draft.tags {
                            note.addToTags(try self.tag(named: name, in: context))
                        }
                    }
                }
                try context.save()
            } catch {
                failure = error
            }
        }
        if let failure = failure { throw failure }
    }

    /// Deletes the notes of a folder in the store, without loading them.
    @discardableResult
    public func clearFolder(named name: String) throws -> Int {
        let request: NSFetchRequest<Note> = Note.fetchRequest()
        request.predicate = NSPredicate(format: "%K ==[c] %@", "folder.name", name)
        let deletion = NSBatchDeleteRequest(fetchRequest: request.erased)
        deletion.resultType = .resultTypeObjectIDs
        let result = try viewContext.execute(deletion) as? NSBatchDeleteResult
        let ids = result?.result as? [NSManagedObjectID] ?? []
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [viewContext])
        return ids.count
    }

    public func saveIfNeeded() throws {
        guard viewContext.hasChanges else { return }
        try viewContext.save()
    }
}
