//
//  NoteList.swift
//  NoteStorage
//

import Foundation
import CoreData

/// The list of all notes, in sections by folder.
public final class NoteList: NSObject {

    private let controller: NSFetchedResultsController<Note>
    /// Changes reported to the list, for the screen that shows it.
    public private(set) var events: [String] = []

    public init(store: NoteStore) throws {
        let request: NSFetchRequest<Note> = Note.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(
                key: #keyPath(Note.folder.name), ascending: true,
                selector: #selector(NSString.localizedStandardCompare(_:))),
            NSSortDescriptor(key: #keyPath(Note.isPinned), ascending: false),
            NSSortDescriptor(
                key: #keyPath(Note.title), ascending: true, selector: #selector(NSString.caseInsensitiveCompare(_:))),
        ]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: store.viewContext,
            sectionNameKeyPath: #keyPath(Note.folder.name), cacheName: nil)
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    public var sectionTitles: [String] { controller.sections?.map { $0.name } ?? [] }

    public func titles(inSection section: Int) -> [String] {
        let notes = controller.sections?[section].objects as? [Note] ?? []
        return notes.map { $0.title ?? "" }
    }

    public func note(at indexPath: IndexPath) -> Note { controller.object(at: indexPath) }
}

extension NoteList: NSFetchedResultsControllerDelegate {

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        events.append("\(type == .insert ? "+" : "-") section \(sectionInfo.name)")
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let title = (anObject as? Note)?.title ?? ""
        switch type {
        case .insert: events.append("+ \(title)")
        case .delete: events.append("- \(title)")
        case .move: events.append("> \(title)")
        case .update: events.append("~ \(title)")
        @unknown default: break
        }
    }
}
