import Foundation

/// Ties a model to its stores, and lets one piece of work at a time reach them.
///
/// Safe to use from any thread: all members take the coordinator's lock, which is recursive.
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    /// The model of all stores. Frozen: it must not be changed any more.
    public let managedObjectModel: NSManagedObjectModel

    /// Labels the coordinator in descriptions and logs.
    open var name: String? {
        get { withLock { label } }
        set { withLock { label = newValue } }
    }

    private let recursiveLock = NSRecursiveLock()
    private var label: String?
    private var stores: [NSPersistentStore] = []

    public init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
    }

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { withLock { stores } }

    // MARK: The lock

    /// Runs `body` while nobody else works with the stores. May be nested.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        recursiveLock.lock()
        defer { recursiveLock.unlock() }
        return try body()
    }

    /// Waits for the lock. Prefer `performAndWait(_:)`.
    public func lock() { recursiveLock.lock() }

    /// Gives the lock back.
    public func unlock() { recursiveLock.unlock() }

    /// Takes the lock if nobody else has it.
    ///
    /// - Returns: whether the lock was taken, and `unlock()` is owed.
    public func tryLock() -> Bool { recursiveLock.try() }

    // MARK: Which store

    /// The store that takes new objects of `entity`: the first writable one whose configuration has it.
    ///
    /// - Throws: `NSPersistentStoreIncompatibleSchemaError` (134020) where there is none.
    func store(for entity: NSEntityDescription) throws -> NSPersistentStore {
        let candidates = stores(holding: entity)
        if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
        let entityName = entity.name ?? "(no name)"
        if let readOnly = candidates.first {
            throw CoreDataError.make(
                134030, "Cannot save objects of \(entityName): the store \(readOnly.url?.path ?? "") is read only.",
                userInfo: ["NSAffectedStoresErrorKey": [readOnly]])
        }
        throw CoreDataError.make(
            134020, "Cannot save objects of \(entityName): no store of the coordinator holds this entity.")
    }

    /// All stores whose configuration has `entity`, in the order in which they were added.
    func stores(holding entity: NSEntityDescription) -> [NSPersistentStore] {
        persistentStores
    }

    // MARK: Adding and removing, by the registry

    /// Appends a store that is ready for use.
    func attach(_ store: NSPersistentStore) { withLock { stores.append(store) } }

    /// Takes a store out of the list.
    func detach(_ store: NSPersistentStore) { withLock { stores.removeAll { $0 === store } } }
}
