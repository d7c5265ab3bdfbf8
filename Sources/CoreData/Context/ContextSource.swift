import Foundation

/// The source from which a context reads rows and to which it writes changes: a coordinator or a parent.
///
/// Called on the context's queue. Takes the queues of the ancestors, from child to root, and then the coordinator's
/// lock.
protocol ContextSource: RowsByID, AnyObject {
    /// The coordinator of the root context.
    var coordinator: NSPersistentStoreCoordinator? { get }

    /// The parent; `nil` if the context uses the coordinator directly.
    var parent: NSManagedObjectContext? { get }

    /// Returns the rows that match `plan`, with its limit and offset.
    func find(_ plan: FetchPlan, wantsRows: Bool) throws -> FoundRows

    /// Returns the number of objects that match `plan`.
    func count(_ plan: FetchPlan) throws -> Int

    /// Returns the result of ``destinations(of:inOrderOf:)`` with the first `limit` rows, and their store; `nil` if
    /// there are several stores, if the store reads rows only by ID, or if there are more than `most` destinations.
    func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> (store: any RowStore, found: DestinationRows)?

    /// True if a row of that ID can exist; for a temporary ID only in a parent.
    func mayHold(_ id: NSManagedObjectID) -> Bool

    /// True if `row`, just read or announced, replaces `old`.
    func supersedes(_ row: RowSnapshot, _ old: RowSnapshot) -> Bool

    /// The ID of the same row with the store and entity of this stack.
    func localID(_ id: NSManagedObjectID) -> NSManagedObjectID

    /// The store that receives a new object of `entity`.
    func store(for entity: NSEntityDescription) throws -> any RowStore

    /// Returns permanent IDs for new objects in `store`, in the same order.
    func obtainPermanentIDs(for runs: [EntityRun], in store: any RowStore) throws -> [NSManagedObjectID]

    /// Returns permanent IDs for new objects of a store whose IDs depend on the objects, in the same order; `nil` for
    /// any other store.
    func obtainPermanentIDs(of objects: [NSManagedObject], in store: any RowStore) throws -> [NSManagedObjectID]?

    /// Writes the changes of each store: all or none.
    ///
    /// - Returns: rows that the stores changed as a side effect (see ``StoreOperations/takeDerivedRows()``).
    /// - Throws: ``StoreConflicts``, ``MultiStoreSave/Incomplete``, a store's errors.
    func save(_ parts: [MultiStoreSave.Part]) throws -> [NSManagedObjectID: RowSnapshot]

    /// Writes the stores' metadata that was changed. Does nothing with a parent.
    func saveMetadata() throws

    /// Runs `body`, which reads, while no other thread uses the coordinator or parent, in the state that the context is
    /// pinned to.
    func reading<Result>(_ body: () throws -> Result) throws -> Result

    /// Notifies the other contexts of committed changes. Call it outside of the lock.
    func didCommit(_ changes: CommittedChanges, from context: NSManagedObjectContext)

    /// Runs `body` while no other thread uses the coordinator or parent.
    func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result
}

extension ContextSource {
    var model: NSManagedObjectModel? { coordinator?.managedObjectModel }
}

extension ContextSource {
    func saveMetadata() throws {}

    func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> (store: any RowStore, found: DestinationRows)? { nil }
}

/// The source of a context that uses a coordinator directly.
final class CoordinatorSource: ContextSource {
    private let stack: NSPersistentStoreCoordinator
    // SAFETY: the context owns its source and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private(set) var seen = SeenDataVersions()

    init(_ coordinator: NSPersistentStoreCoordinator, context: NSManagedObjectContext) {
        stack = coordinator
        unretained = Unretained(context)
    }

    var coordinator: NSPersistentStoreCoordinator? { stack }
    var parent: NSManagedObjectContext? { nil }

    func find(_ plan: FetchPlan, wantsRows: Bool) throws -> FoundRows {
        var query = plan.query
        query.wantsRows = wantsRows
        return try reading {
            // A child's plan does not know the state that this context is pinned to.
            let plan = plan.limited(to: context.generation.visible(plan.stores))
            for store in plan.stores {
                guard seen.note(try store.operations.dataVersion(), of: store) else { continue }
                context.noteChangesBeneath()
                context.faults.ahead.forgetLists()
            }
            return try StoreFetch(plan: plan).run(query)
        }
    }

    func count(_ plan: FetchPlan) throws -> Int {
        var query = plan.query
        query.wantsRows = false
        query.sortKeys = []
        return try reading {
            let plan = plan.limited(to: context.generation.visible(plan.stores))
            if plan.stores.count == 1, let count = try plan.stores[0].operations.count(query) { return count }
            return try StoreFetch(plan: plan.unsorted).run(query).count
        }
    }

    func mayHold(_ id: NSManagedObjectID) -> Bool { !id.isTemporaryID && id.persistentStore != nil }

    func supersedes(_ row: RowSnapshot, _ old: RowSnapshot) -> Bool { row.version > old.version }

    /// Runs `body` under the lock, with the stores in the state that the context is pinned to.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try withLock { try context.generation.reading(stack, body) }
    }

    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        try reading {
            if let store = onlyStore(of: ids) { return try store.operations.rows(inOrderOf: ids) }
            var rows: [NSManagedObjectID: RowSnapshot] = [:]
            for (store, ids) in try byStore(ids) { rows.merge(try store.operations.rows(for: ids)) { $1 } }
            return ids.map { rows[$0] }
        }
    }

    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try reading {
            if let store = onlyStore(of: ids) {
                return try store.operations.destinations(of: relationship, inOrderOf: ids)
            }
            var lists: [NSManagedObjectID: [NSManagedObjectID]] = [:]
            for (store, ids) in try byStore(ids) {
                lists.merge(try store.operations.destinations(of: relationship, from: ids)) { $1 }
            }
            return ids.map { lists[$0] ?? [] }
        }
    }

    func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> (store: any RowStore, found: DestinationRows)? {
        try reading {
            guard let store = onlyStore(of: owners),
                let found = try store.operations.destinationRows(
                    of: relationship, inOrderOf: owners, limit: limit, most: most)
            else { return nil }
            return (store, found)
        }
    }

    func store(for entity: NSEntityDescription) throws -> any RowStore { try stack.store(for: entity) }

    func obtainPermanentIDs(for runs: [EntityRun], in store: any RowStore) throws -> [NSManagedObjectID] {
        try withLock { try store.operations.obtainPermanentIDs(for: runs) }
    }

    func obtainPermanentIDs(
        of objects: [NSManagedObject], in store: any RowStore
    ) throws -> [NSManagedObjectID]? {
        try withLock { try store.operations.obtainPermanentIDs(of: objects) }
    }

    func save(_ parts: [MultiStoreSave.Part]) throws -> [NSManagedObjectID: RowSnapshot] {
        try withLock {
            do { try MultiStoreSave(parts).run() } catch var incomplete as MultiStoreSave.Incomplete {
                incomplete.derived = derivedRows(in: incomplete.saved)
                throw incomplete
            }
            return derivedRows(in: parts.map(\.store))
        }
    }

    private func derivedRows(in stores: [any RowStore]) -> [NSManagedObjectID: RowSnapshot] {
        var derived: [NSManagedObjectID: RowSnapshot] = [:]
        for store in stores { derived.merge(store.operations.takeDerivedRows()) { $1 } }
        return derived
    }

    func saveMetadata() throws {
        try withLock {
            for store in stack.rowStores where store.hasUnsavedMetadata && !store.isReadOnly {
                try store.operations.save(StoreChangeSet())
            }
        }
    }

    func didCommit(_ changes: CommittedChanges, from context: NSManagedObjectContext) {
        stack.didCommit(changes, from: context)
    }

    func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        stack.access.lock()
        defer { stack.access.unlock() }
        return try body()
    }

    // MARK: Stores of IDs

    /// Converts an ID that another stack on the same store made into one of this stack.
    func localID(_ id: NSManagedObjectID) -> NSManagedObjectID {
        guard !id.isTemporaryID, let key = id.rowKey else { return id }
        if id.persistentStore?.persistentStoreCoordinator === stack { return id }
        guard let store = store(identified: id.storeIdentifier), let name = id.entity.name,
            let entity = stack.managedObjectModel.entitiesByName[name]
        else { return id }
        return store.operations.objectID(for: RowKey(entity: UInt32(entity.layout.index), reference: key.reference))
    }

    private func store(identified identifier: String) -> (any RowStore)? {
        stack.rowStores.first { $0.identifier == identifier }
    }

    /// The only store, if all `ids` belong to it.
    private func onlyStore(of ids: [NSManagedObjectID]) -> (any RowStore)? {
        let stores = context.generation.visible(stack.rowStores)
        guard stores.count == 1, let only = stores.first, let identifier = only.identifier else { return nil }
        let reference = only.reference
        let ours = ids.allSatisfy { id in
            !id.isTemporaryID && (id.isMade(for: reference) || id.storeIdentifier == identifier)
        }
        return ours ? only : nil
    }

    private func byStore(_ ids: [NSManagedObjectID]) throws -> [(any RowStore, [NSManagedObjectID])] {
        let stores = context.generation.visible(stack.rowStores)
        var groups: [(any RowStore, [NSManagedObjectID])] = []
        for (identifier, ids) in Dictionary(grouping: ids.filter { !$0.isTemporaryID }, by: \.storeIdentifier) {
            guard let store = stores.first(where: { $0.identifier == identifier }) else {
                if stack.rowStores.contains(where: { $0.identifier == identifier }) { continue }
                throw CoreDataError.make(
                    134060, "The context's coordinator does not have the store of '\(ids[0])'. Add the store first.")
            }
            groups.append((store, ids))
        }
        return groups
    }
}
