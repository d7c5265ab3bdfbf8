/// A store whose rows can be asked for. Only such classes are registered for store types, so that each store that a coordinator
/// has is one.
package protocol RowStore: NSPersistentStore {
    /// What context and coordinator ask of the store.
    var operations: any StoreOperations { get }
}

extension RowStore {
    /// Whether the store cannot read a property, as its file does not have what the model says. Takes the coordinator's lock.
    func cannotRead(_ property: NSPropertyDescription) -> Bool {
        persistentStoreCoordinator?.withLock { operations.unreadable.contains(property) } ?? false
    }
}
