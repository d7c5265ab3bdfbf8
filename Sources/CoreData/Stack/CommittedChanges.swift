import Dispatch
import Foundation
import Synchronization

/// What one save changed, or several transactions of a store's history together, as the coordinator's contexts hear of it.
///
/// Made by a save of a context, or from the history of a store that another process wrote to.
struct CommittedChanges: Sendable {
    /// Permanent IDs.
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []

    /// The rows as they were committed, as far as the writer knows them; the others are read when they are needed.
    /// A list, because after most saves nothing is looked up in it.
    var rows: [IdentifiedRow] = []

    /// Stores that changed in unknown ways: whatever was read from them may be stale.
    var staleStores: [NSPersistentStore] = []

    /// When the look at a history began of which this is the last part: what other processes committed before is merged
    /// with this. `nil` where that is not known.
    var completeSince: DispatchTime?

    /// How many rows are named.
    var count: Int { inserted.count + updated.count + deleted.count }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && staleStores.isEmpty }
}

/// An observer of committed changes: the merger of a context.
protocol CommitObserver: AnyObject, Sendable {
    /// Called on any thread, after the transaction and outside of the coordinator's lock.
    ///
    /// - Parameter source: the context that saved, or `nil` for another process.
    func coordinatorDidCommit(_ changes: CommittedChanges, from source: AnyObject?)

    /// Whether it has not come yet to what it was told of other processes. Any thread.
    var isBehind: Bool { get }

    /// Called on any thread when all stores that are followed can be read: what could not be merged can be now.
    func storesAnswer()

    /// Called on any thread after `store` was taken out of the coordinator.
    func coordinatorDidRemove(_ store: NSPersistentStore)

    /// Called on any thread when another store took the place of one, which is about to be removed.
    func coordinatorDidMove(_ move: StoreMove)

    /// Called on any thread when unsaved objects changed in the parent context: what was read and is not in use is stale.
    func objectsBeneathDidChange()
}

/// The observers of one coordinator or parent context, as long as they are there. Safe to use from any thread.
// SAFETY: the lock guards the entries; the flag is an atomic.
final class CommitObservers: @unchecked Sendable {
    private struct Entry {
        weak var observer: (any CommitObserver)?
    }

    private let lock = NSLock()
    private var entries: [Entry] = []
    private let wasUsed = Atomic<Bool>(false)

    /// Whether there ever was an observer. One plain load.
    var hasSome: Bool { wasUsed.load(ordering: .acquiring) }

    func add(_ observer: any CommitObserver) {
        wasUsed.store(true, ordering: .releasing)
        lock.withLock {
            entries.removeAll { $0.observer == nil }
            entries.append(Entry(observer: observer))
        }
    }

    var live: [any CommitObserver] { hasSome ? lock.withLock { entries.compactMap(\.observer) } : [] }
}

extension CommittedChanges {
    /// What was committed one after the other, together: a row that was inserted and updated counts as inserted, one that
    /// was inserted and deleted as deleted. Each row is named once, in the order of its first change.
    init(together parts: [CommittedChanges]) {
        self.init()
        enum Kind { case insert, update, delete }
        var kinds: [NSManagedObjectID: Kind] = [:]
        var order: [NSManagedObjectID] = []
        func note(_ ids: [NSManagedObjectID], _ kind: Kind) {
            for id in ids {
                let before = kinds[id]
                if before == nil { order.append(id) }
                kinds[id] = before == .insert && kind == .update ? .insert : kind
            }
        }
        for changes in parts {
            note(changes.inserted, .insert)
            note(changes.updated, .update)
            note(changes.deleted, .delete)
            rows += changes.rows
            staleStores += changes.staleStores.filter { store in !staleStores.contains { $0 === store } }
            completeSince = changes.completeSince ?? completeSince
        }
        inserted = order.filter { kinds[$0] == .insert }
        updated = order.filter { kinds[$0] == .update }
        deleted = order.filter { kinds[$0] == .delete }
    }

    /// The stores that the changes are about, each once.
    var stores: [NSPersistentStore] {
        var seen: Set<ObjectIdentifier> = []
        var stores: [NSPersistentStore] = []
        for list in [inserted, updated, deleted] {
            var last: NSManagedObjectID?
            for id in list where last.map({ !$0.isInSameStore(as: id) }) ?? true {
                last = id
                if let store = id.persistentStore { stores.append(store) }
            }
        }
        return (stores + staleStores).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
