import Foundation
import Synchronization

// A state of the stores at one moment. An SQLite store in WAL mode shows such a state to a connection while that has
// a read transaction open, even if others write. Therefore a generation has its own connection to each store. While
// it is open, the write-ahead log cannot be checkpointed past the generation, and grows. Stores that cannot keep a
// state show the newest one.

/// A readable, kept state of a coordinator's stores.
// SAFETY: its snapshots are read and released only under the coordinator's lock; the rest is immutable.
final class QueryGeneration: @unchecked Sendable {
    let identifier = UUID()
    private var views: [View]
    /// True if a store of the state was removed from the coordinator, so that the state is no longer readable.
    var hasEnded: Bool { ended.load(ordering: .acquiring) }
    private let ended = Atomic<Bool>(false)
    /// The stores of the state. Weak, because a store may be removed.
    private let stores: [WeakStore]

    private struct WeakStore {
        weak var store: (any RowStore)?
    }

    private struct View {
        let store: any RowStore
        let operations: any SnapshotReading
        let snapshot: AnyObject
    }

    /// Keeps the current state of all stores of `coordinator`, under its lock. Each store opens a connection for it.
    init(of coordinator: NSPersistentStoreCoordinator) throws {
        (stores, views) = try coordinator.withLock {
            let stores = coordinator.rowStores
            let views = try stores.compactMap { store -> View? in
                guard let operations = store.operations as? any SnapshotReading,
                    let snapshot = try operations.makeSnapshot()
                else { return nil }
                return View(store: store, operations: operations, snapshot: snapshot)
            }
            return (stores.map(WeakStore.init), views)
        }
        let entry = Weak(generation: self)
        Self.all.withLock { all in
            all = all.filter { $0.value.generation != nil }
            all[identifier] = entry
        }
    }

    /// True if all the stores show the state. Some can only show the newest one.
    var isWhole: Bool { views.count == stores.count }

    /// True if `store` is in the state. A store added later is not.
    func includes(_ store: any RowStore) -> Bool { stores.contains { $0.store === store } }

    /// Runs `body` under the coordinator's lock, with the stores in this state.
    func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
        try reading(views[...], body)
    }

    private func reading<Result>(_ views: ArraySlice<View>, _ body: () throws -> Result) rethrows -> Result {
        guard let view = views.first else { return try body() }
        return try view.operations.reading(from: view.snapshot) { try reading(views.dropFirst(), body) }
    }

    /// Ends all states that include `store`, and closes their connections to it. Call under the coordinator's lock.
    static func end(with store: any RowStore) {
        let generations = all.withLock { $0.values.compactMap(\.generation) }
        for generation in generations where generation.includes(store) {
            generation.ended.store(true, ordering: .releasing)
            generation.views = []
        }
    }

    /// Throws if the state has ended, or if `coordinator` does not have all of its stores. Call under the
    /// coordinator's lock.
    func check(with coordinator: NSPersistentStoreCoordinator) throws {
        if hasEnded {
            throw CoreDataError.make(
                134060,
                "The query generation has ended because one of its stores was removed. Take a new one.")
        }
        let present = coordinator.rowStores
        for view in views where !present.contains(where: { $0 === view.store }) {
            throw CoreDataError.make(
                134060,
                "The query generation includes the store \(view.store.placeName), which the context's coordinator does not have.",
                userInfo: [NSAffectedStoresErrorKey: [view.store]])
        }
    }

    // MARK: What archives name

    // SAFETY: only reached through the mutex of `all`; the generation itself is sendable.
    private struct Weak: @unchecked Sendable {
        weak var generation: QueryGeneration?
    }

    private static let all = Mutex<[UUID: Weak]>([:])

    /// The generation with that identifier, if a context or a token still keeps it.
    static func kept(_ identifier: UUID) -> QueryGeneration? { all.withLock { $0[identifier]?.generation } }
}
