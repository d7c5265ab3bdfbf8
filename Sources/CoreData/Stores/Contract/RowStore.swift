/// A store whose rows can be asked for. Only such classes are registered for store types, so that each store that a coordinator
/// has is one.
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
