import Dispatch
import Foundation
import Synchronization

/// The combined changes of one save, or of several history transactions, as the coordinator passes them to its
/// contexts.
///
/// Created by a context's save, or from the history of a store that another process wrote to.
struct CommittedChanges: Sendable {
    /// Permanent IDs.
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []

    /// The committed rows, as far as the writer knows them; others are read on demand. A list, because after most
    /// saves no row is looked up.
    var rows: [IdentifiedRow] = []

    /// Stores with unknown changes: everything read from them may be stale.
    var staleStores: [NSPersistentStore] = []

    /// The start of the history look whose last part this is: merging it includes everything that other processes
    /// committed before. `nil` if unknown.
    var completeSince: DispatchTime?

    /// The number of changed rows.
    var count: Int { inserted.count + updated.count + deleted.count }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && staleStores.isEmpty }
}

/// An observer of committed changes: a context's merger.
protocol CommitObserver: AnyObject, Sendable {
    /// Called on any thread, after the transaction and outside the coordinator's lock.
    ///
    /// - Parameter source: the context that saved; `nil` for another process.
    func coordinatorDidCommit(_ changes: CommittedChanges, from source: AnyObject?)

    /// True if the observer has not yet handled the last changes of other processes, other than those of stores that are away. Any
    /// thread.
    var isBehind: Bool { get }

    /// Called on any thread when all watched stores can be read again, so that failed merges can be retried.
    func storesAnswer()

    /// Called on any thread after `store` was removed from the coordinator.
    func coordinatorDidRemove(_ store: NSPersistentStore)

    /// Called on any thread when another store has replaced one that is about to be removed.
    func coordinatorDidMove(_ move: StoreMove)

    /// Called on any thread when unsaved objects of the parent context changed: values that were read but are not in
    /// use are stale.
    func objectsBeneathDidChange()
}

/// The live observers of a coordinator or parent context. Safe to use from any thread.
// SAFETY: the lock guards the entries; the flag is an atomic.
final class CommitObservers: @unchecked Sendable {
    private struct Entry {
        weak var observer: (any CommitObserver)?
    }

    private let lock = NSLock()
    private var entries: [Entry] = []
    private let wasUsed = Atomic<Bool>(false)

    /// True if there has ever been an observer. One plain load.
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
    /// Combines successive commits. A row inserted and then updated counts as inserted; one inserted and then deleted
    /// counts as deleted. Each row is listed once, in the order of its first change.
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

    /// The stores of the changes, each once.
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
