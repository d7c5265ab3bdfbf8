/// A store with readable rows. Only such classes can be registered for store types, so every store of a coordinator
/// conforms.
package protocol RowStore: NSPersistentStore {
    /// The operations that contexts and the coordinator use.
    var operations: any StoreOperations { get }
}

extension RowStore {
    /// True if the store cannot read a property because its file differs from the model. Takes the coordinator's lock.
    func cannotRead(_ property: NSPropertyDescription) -> Bool {
        persistentStoreCoordinator?.withLock { operations.unreadable.contains(property) } ?? false
    }
}
