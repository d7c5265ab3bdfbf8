import Foundation

/// Where a context reads rows and writes changes: all that it knows of what lies beneath it.
///
/// Called on the context's queue. Takes the coordinator's lock, which is always taken after the queue.
protocol ContextSource: AnyObject {
    var model: NSManagedObjectModel { get }

    /// The rows of `ids`. A row that does not exist is missing in the answer.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]

    /// The destinations of a to-many relationship, in its order if it has one.
    func destinations(
        of relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]]

    /// The same row's ID with the store and entity of this stack.
    func localID(_ id: NSManagedObjectID) -> NSManagedObjectID

    /// The store that takes a new object of `entity`.
    func store(for entity: NSEntityDescription) throws -> NSPersistentStore

    /// Permanent IDs for new objects of `entities` in `store`, in the same order.
    func obtainPermanentIDs(
        for entities: [NSEntityDescription], in store: NSPersistentStore
    ) throws -> [NSManagedObjectID]

    /// Writes the changes of each store: all of them or none.
    ///
    /// - Returns: the rows that the stores themselves changed beside what they were told (see
    ///   ``StoreOperations/takeDerivedRows()``).
    /// - Throws: ``StoreConflicts``, ``MultiStoreSave/Incomplete``, a store's errors.
    func save(_ parts: [MultiStoreSave.Part]) throws -> [NSManagedObjectID: RowSnapshot]

    /// Writes what stores say of themselves, where that was changed. Does nothing above a parent.
    func saveMetadata() throws

    /// Tells the other contexts what was committed. Call it outside of the lock.
    func didCommit(_ changes: CommittedChanges, from context: NSManagedObjectContext)

    /// Runs `body` while nobody else works with what lies beneath.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result
}

extension ContextSource {
    func saveMetadata() throws {}
}

/// The source of a context that stands on a coordinator.
final class CoordinatorSource: ContextSource {
    private let coordinator: NSPersistentStoreCoordinator
    private unowned(unsafe) let context: NSManagedObjectContext

    init(_ coordinator: NSPersistentStoreCoordinator, context: NSManagedObjectContext) {
        self.coordinator = coordinator
        self.context = context
    }

    var model: NSManagedObjectModel { coordinator.managedObjectModel }

    /// Runs `body` under the lock, with the stores in the state that the context is pinned to.
    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try withLock { try context.generation.reading(coordinator, body) }
    }

    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        try reading {
            var result: [NSManagedObjectID: RowSnapshot] = [:]
            for (store, ids) in try byStore(ids) {
                let rows = try store.operations.rows(for: ids)
                if result.isEmpty { result = rows } else { result.merge(rows) { $1 } }
            }
            return result
        }
    }

    func destinations(
        of relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try reading {
            var result: [NSManagedObjectID: [NSManagedObjectID]] = [:]
            for (store, ids) in try byStore(ids) {
                let destinations = try store.operations.destinations(of: relationship, from: ids)
                if result.isEmpty { result = destinations } else { result.merge(destinations) { $1 } }
            }
            return result
        }
    }

    func store(for entity: NSEntityDescription) throws -> NSPersistentStore { try coordinator.store(for: entity) }

    func obtainPermanentIDs(
        for entities: [NSEntityDescription], in store: NSPersistentStore
    ) throws -> [NSManagedObjectID] {
        try withLock { try store.operations.obtainPermanentIDs(for: entities) }
    }

    func save(_ parts: [MultiStoreSave.Part]) throws -> [NSManagedObjectID: RowSnapshot] {
        try withLock {
            try MultiStoreSave(parts).run()
            var derived: [NSManagedObjectID: RowSnapshot] = [:]
            for part in parts { derived.merge(part.store.operations.takeDerivedRows()) { $1 } }
            return derived
        }
    }

    func saveMetadata() throws {
        try withLock {
            for store in coordinator.persistentStores where store.hasUnsavedMetadata && !store.isReadOnly {
                try store.operations.save(StoreChangeSet())
            }
        }
    }

    func didCommit(_ changes: CommittedChanges, from context: NSManagedObjectContext) {
        coordinator.didCommit(changes, from: context)
    }

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try coordinator.withLock(body) }

    // MARK: Stores of IDs

    /// An ID made by another stack on the same store becomes one of this stack.
    func localID(_ id: NSManagedObjectID) -> NSManagedObjectID {
        guard !id.isTemporaryID, let key = id.rowKey else { return id }
        if id.persistentStore?.persistentStoreCoordinator === coordinator { return id }
        guard let store = store(identified: id.storeIdentifier), let name = id.entity.name,
            let entity = model.entitiesByName[name]
        else { return id }
        return store.operations.objectID(for: RowKey(entity: UInt32(entity.layout.index), reference: key.reference))
    }

    private func store(identified identifier: String) -> NSPersistentStore? {
        coordinator.persistentStores.first { $0.identifier == identifier }
    }

    private func byStore(_ ids: [NSManagedObjectID]) throws -> [(NSPersistentStore, [NSManagedObjectID])] {
        let stores = coordinator.persistentStores
        if stores.count == 1, let only = stores.first, let identifier = only.identifier {
            let ours = ids.allSatisfy { !$0.isTemporaryID && $0.storeIdentifier == identifier }
            if ours { return [(only, ids)] }
        }
        var groups: [(NSPersistentStore, [NSManagedObjectID])] = []
        for (identifier, ids) in Dictionary(grouping: ids.filter { !$0.isTemporaryID }, by: \.storeIdentifier) {
            guard let store = stores.first(where: { $0.identifier == identifier }) else {
                throw CoreDataError.make(
                    134060, "The store of '\(ids[0])' is not among those of the context's coordinator: add it first.")
            }
            groups.append((store, ids))
        }
        return groups
    }
}
