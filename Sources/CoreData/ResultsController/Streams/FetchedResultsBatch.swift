import Foundation
import Synchronization

/// All changes of one batch in a results controller, as a value for any queue.
///
/// Positions of deleted objects are in ``before``, positions of inserted ones in ``after``. Every object has at most
/// one change; objects that are only shifted by others have none.
public struct FetchedResultsBatch: Sendable {
    /// The change of one object of the list in a batch.
    public struct Change: Sendable {
        /// The kind of change: inserted, deleted, moved or updated.
        public let type: NSFetchedResultsChangeType
        /// The object's ID; a temporary one before the object is saved.
        public let objectID: NSManagedObjectID
        /// The path before the batch; `nil` for an insertion.
        public let indexPath: IndexPath?
        /// The path after the batch; `nil` for a deletion. That of an update differs from the old one if others moved.
        public let newIndexPath: IndexPath?
        /// The properties of the object that changed, for moves and updates; `nil` if unknown, such as when a related
        /// object changed or another process wrote a row whose values were not in the context.
        public let changedKeys: Set<String>?
        /// The old values of the properties in ``changedKeys``: texts, numbers, dates and the like; related objects as
        /// IDs, alone or as a set; `NSNull` if there was no value. Transformed values are omitted.
        public let oldValues: [String: any Sendable]
    }

    /// An inserted or deleted section.
    public struct SectionChange: Sendable, Hashable {
        /// The kind of change: inserted or deleted.
        public let type: NSFetchedResultsChangeType
        /// The section's index: in the new list if inserted, in the old list if deleted.
        public let index: Int
        /// The section's name.
        public let name: String
    }

    /// The contents before the batch.
    public let before: FetchedResultsSnapshot
    /// The contents after the batch.
    public let after: FetchedResultsSnapshot
    /// The inserted and deleted sections: deletions by descending old index, then insertions by ascending new index.
    /// Computed on first use.
    public var sectionChanges: [SectionChange] { told.sectionChanges }
    /// True if values may have changed that are not in ``changes``.
    let comparesAllSections: Bool
    private let told: Told

    /// The objects that changed: deletions by descending old position, insertions and moves by ascending new position,
    /// then updates. Computed on first use: O(changes), and the coordinator's lock is taken, so a save in progress
    /// delays it.
    public var changes: [Change] { told.changes }

    /// - Parameter isWhole: true if the states were compared without knowing the changes between them.
    init(_ batch: ChangeBatch, of state: ResultsState, _ work: TouchedObjects, isWhole: Bool) {
        comparesAllSections = isWhole
        before = FetchedResultsSnapshot(batch.old, names: state.names, identities: state.identities)
        after = FetchedResultsSnapshot(batch.new, names: state.names, identities: state.identities)
        told = Told(batch, state.names.table, state.identities.frozen(), work.changedValues)
    }

    /// The changes with the IDs of their objects. They are not computed on the context's queue, because a new predicate
    /// may cause a million.
    // SAFETY: immutable but for lazily computed values, which the locks guard; nothing else has the identities.
    private final class Told: @unchecked Sendable {
        private let batch: ChangeBatch
        private let names: SectionTable
        private let identities: RowIdentities
        private let values: [NSManagedObjectID: (keys: Set<String>?, oldValues: [String: any Sendable])]
        private let made = Mutex<[Change]?>(nil)
        private let madeSections = Mutex<[SectionChange]?>(nil)

        init(
            _ batch: ChangeBatch, _ names: SectionTable, _ identities: RowIdentities,
            _ values: [NSManagedObjectID: (keys: Set<String>?, oldValues: [String: any Sendable])]
        ) {
            (self.batch, self.names, self.identities, self.values) = (batch, names, identities, values)
        }

        var sectionChanges: [SectionChange] {
            madeSections.withLock { made in
                if let made { return made }
                let changes = BatchProjections.sectionEvents(of: batch).map { event in
                    SectionChange(type: event.type, index: event.index, name: names.name(of: event.number))
                }
                made = changes
                return changes
            }
        }

        var changes: [Change] {
            if let made = made.withLock({ $0 }) { return made }
            // Computed outside of the lock, because computing the IDs takes the coordinator's lock. Concurrent callers
            // compute equal values.
            let ids = identities.objectIDs(of: batch.rowChanges.map(\.row))
            let changes = zip(BatchProjections.objectEvents(of: batch), ids).map { event, id in
                let told = event.type == .update || event.type == .move ? values[id] : nil
                return Change(
                    type: event.type, objectID: id, indexPath: event.indexPath, newIndexPath: event.newIndexPath,
                    changedKeys: told?.keys, oldValues: told?.oldValues ?? [:])
            }
            made.withLock { $0 = changes }
            return changes
        }

        /// Each object's positions over all sections.
        var steps: [BatchProjections.DifferenceStep] {
            zip(batch.rowChanges, identities.objectIDs(of: batch.rowChanges.map(\.row))).map { change, id in
                BatchProjections.DifferenceStep(
                    id: id, old: change.oldPath.flatMap(batch.old.position),
                    new: change.newPath.flatMap(batch.new.position))
            }
        }
    }

    /// The batch as a difference of the lists of all IDs, over all sections. Moves and updates are removals and
    /// insertions that are associated with each other. O(changes).
    public var difference: CollectionDifference<NSManagedObjectID> {
        guard let difference = BatchProjections.difference(of: told.steps) else {
            preconditionFailure("a batch names a place twice")
        }
        return difference
    }
}

/// Converts values of properties for other queues.
enum SendableValues {
    /// The sendable form of `value`; `nil` if there is none.
    static func form(of value: Any) -> (any Sendable)? {
        switch value {
        case is NSNull: NSNull()
        case let object as NSManagedObject: object.objectID
        case let set as NSSet: Set(set.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID })
        case let set as NSOrderedSet: set.array.compactMap { ($0 as? NSManagedObject)?.objectID }
        case let text as String: text
        case let number as NSDecimalNumber: number.decimalValue
        case let number as Decimal: number
        case let number as NSNumber where number.objCType.pointee == CChar(UInt8(ascii: "c")): number.boolValue
        case let flag as Bool: flag
        case let number as Int64: number
        case let number as Int: number
        case let number as Int32: number
        case let number as Int16: number
        case let number as Double: number
        case let number as Float: number
        case let date as Date: date
        case let data as Data: data
        case let id as UUID: id
        case let url as URL: url
        default: nil
        }
    }
}
