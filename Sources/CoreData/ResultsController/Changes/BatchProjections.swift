import Foundation

/// The forms in which a batch of changes is reported.
enum BatchProjections {
    struct SectionEvent {
        let type: NSFetchedResultsChangeType
        let index: Int
        let number: UInt32
    }

    struct ObjectEvent {
        let type: NSFetchedResultsChangeType
        let row: RowToken
        let indexPath: IndexPath?
        let newIndexPath: IndexPath?
    }

    /// One object's old and new position in a list without sections, or counted over all sections.
    struct DifferenceStep: Sendable {
        let id: NSManagedObjectID
        let old: Int?
        let new: Int?
    }

    /// Deletes by descending old index, then inserts by ascending new index.
    static func sectionEvents(of batch: ChangeBatch) -> [SectionEvent] {
        batch.deletedSections.map { SectionEvent(type: .delete, index: $0.index, number: $0.number) }
            + batch.insertedSections.map { SectionEvent(type: .insert, index: $0.index, number: $0.number) }
    }

    /// Deletes by descending old path, inserts and moves by ascending new path, then updates.
    static func objectEvents(of batch: ChangeBatch) -> some Sequence<ObjectEvent> {
        batch.rowChanges.lazy.map { change in
            let type: NSFetchedResultsChangeType =
                switch change.kind {
                case .insert: .insert
                case .delete: .delete
                case .move: .move
                case .update: .update
                }
            return ObjectEvent(
                type: type, row: change.row, indexPath: change.oldPath.map { IndexPath($0) },
                newIndexPath: change.newPath.map { IndexPath($0) })
        }
    }

    /// The changes of a list without sections. Moves and updates are removals and insertions associated with each
    /// other.
    static func difference(
        of batch: ChangeBatch, identities: RowIdentities
    ) -> CollectionDifference<NSManagedObjectID>? {
        difference(
            of: zip(batch.rowChanges, identities.objectIDs(of: batch.rowChanges.map(\.row))).map { change, id in
                DifferenceStep(id: id, old: change.oldPath?.row, new: change.newPath?.row)
            })
    }

    /// The difference for known steps; `nil` if they name a position twice.
    static func difference(of steps: [DifferenceStep]) -> CollectionDifference<NSManagedObjectID>? {
        CollectionDifference(
            steps.flatMap { step -> [CollectionDifference<NSManagedObjectID>.Change] in
                var parts: [CollectionDifference<NSManagedObjectID>.Change] = []
                if let old = step.old { parts.append(.remove(offset: old, element: step.id, associatedWith: step.new)) }
                if let new = step.new { parts.append(.insert(offset: new, element: step.id, associatedWith: step.old)) }
                return parts
            })
    }

    /// The new contents, with the changed rows marked.
    static func snapshot(
        of batch: ChangeBatch, names: SectionNames, identities: RowIdentities
    ) -> NSDiffableDataSourceSnapshotReference {
        NSDiffableDataSourceSnapshotReference(
            batch.new, names: names, identities: identities, reloaded: batch.reloaded)
    }
}
