import Foundation
import Synchronization

/// Everything that one batch of changes did to a results controller, as a value for any queue.
///
/// Places of what leaves are those of ``before``, places of what arrives those of ``after``. Every object has at most one
/// change; objects that only made room have none.
public struct FetchedResultsBatch: Sendable {
    /// What happened to one object of the list in a batch.
    public struct Change: Sendable {
        /// Whether the object was inserted, deleted, moved or updated.
        public let type: NSFetchedResultsChangeType
        /// The object's ID; a temporary one before the object is saved.
        public let objectID: NSManagedObjectID
        /// Where the object was before the batch; `nil` for an insertion.
        public let indexPath: IndexPath?
        /// Where the object is after the batch; `nil` for a deletion. That of an update differs from the old one when
        /// others moved.
        public let newIndexPath: IndexPath?
        /// The properties of the object that changed, for moves and updates; `nil` where it is not known, as when a related
        /// object changed or another process wrote a row that the context held no values of.
        public let changedKeys: Set<String>?
        /// What the properties in ``changedKeys`` were before: texts, numbers, dates and the like; related objects as IDs,
        /// alone or as a set; `NSNull` where there was no value. Transformed values are left out.
        public let oldValues: [String: any Sendable]
    }

    /// A section that came or went.
    public struct SectionChange: Sendable, Hashable {
        /// Whether the section was inserted or deleted.
        public let type: NSFetchedResultsChangeType
        /// The section's index: in the new list if it came, in the old list if it went.
        public let index: Int
        /// The section's name.
        public let name: String
    }

    /// The contents before the batch.
    public let before: FetchedResultsSnapshot
    /// The contents after the batch.
    public let after: FetchedResultsSnapshot
    /// The sections that came and went: deletions by descending old index, then insertions by ascending new index. Made when
    /// they are asked for first.
    public var sectionChanges: [SectionChange] { told.sectionChanges }
    /// Whether values may have changed of which ``changes`` says nothing.
    let comparesAllSections: Bool
    private let told: Told

    /// The objects that changed: deletions by descending old place, insertions and moves by ascending new place, then
    /// updates. Made when they are asked for first: O(changes), and the coordinator's lock is taken, so that a save which
    /// is under way is waited for.
    public var changes: [Change] { told.changes }

    /// - Parameter isWhole: whether the states were compared without knowing what happened between them.
    init(_ batch: ChangeBatch, of state: ResultsState, _ work: TouchedObjects, isWhole: Bool) {
        comparesAllSections = isWhole
        before = FetchedResultsSnapshot(batch.old, names: state.names, identities: state.identities)
        after = FetchedResultsSnapshot(batch.new, names: state.names, identities: state.identities)
        told = Told(batch, state.names.table, state.identities.frozen(), work.changedValues)
    }

    /// The changes with the IDs of their objects. The queue of the context is not held for them: those of a new predicate may be
    /// a million.
    // SAFETY: immutable but for what is made once, which the locks guard; nothing else has the identities.
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
            // Not under the lock, since the IDs take the coordinator's. What two callers make at once is the same.
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

        /// Each object's places over all sections.
        var steps: [BatchProjections.DifferenceStep] {
            zip(batch.rowChanges, identities.objectIDs(of: batch.rowChanges.map(\.row))).map { change, id in
                BatchProjections.DifferenceStep(
                    id: id, old: change.oldPath.flatMap(batch.old.position),
                    new: change.newPath.flatMap(batch.new.position))
            }
        }
    }

    /// The batch as a difference of the lists of all IDs, over all sections. Moves and updates are removals and insertions
    /// that are associated with each other. O(changes).
    public var difference: CollectionDifference<NSManagedObjectID> {
        guard let difference = BatchProjections.difference(of: told.steps) else {
            preconditionFailure("a batch names a place twice")
        }
        return difference
    }
}

/// Values of properties as they may go to other queues.
enum SendableValues {
    /// The form of `value` that may leave the context's queue; `nil` if there is none.
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
