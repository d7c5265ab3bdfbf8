/// Rows of an incremental store that were registered in a context or unregistered, until the store is notified.
///
/// Rows are recorded one by one during other work, and the store is notified of all when that work is done: the store's
/// class is a program's own code, which may use the context.
final class RegistrationLog {
    let storeIdentifier: String
    private weak var store: NSIncrementalStore?
    private var came: [RowKey] = []
    private var left: [RowKey] = []

    init(_ store: NSIncrementalStore) {
        self.store = store
        storeIdentifier = store.identifier ?? ""
    }

    func noteComing(_ key: RowKey) { came.append(key) }

    func noteLeaving(_ key: RowKey) { left.append(key) }

    private struct News {
        let store: NSIncrementalStore
        let coordinator: NSPersistentStoreCoordinator
        let came: [RowKey]
        let left: [RowKey]

        /// Notifies the store: first of registered rows, then of unregistered ones. A row that was registered and
        /// unregistered is in both calls.
        func tell() {
            coordinator.withLock {
                let operations = store.operations
                if !came.isEmpty { store.managedObjectContextDidRegisterObjects(with: came.map(operations.objectID)) }
                if !left.isEmpty { store.managedObjectContextDidUnregisterObjects(with: left.map(operations.objectID)) }
            }
        }
    }

    /// The rows recorded since the last call; `nil` if there are none, or no store to notify.
    private func takeNews() -> News? {
        guard !came.isEmpty || !left.isEmpty else { return nil }
        defer { (came, left) = ([], []) }
        guard let store, let coordinator = store.persistentStoreCoordinator else { return nil }
        return News(store: store, coordinator: coordinator, came: came, left: left)
    }

    /// Notifies the store now, under the coordinator's lock.
    func tell() { takeNews()?.tell() }

    /// Notifies the store from another thread: the context is being deallocated, perhaps by code that must not wait for
    /// the lock.
    func tellLater() {
        guard let news = takeNews() else { return }
        news.coordinator.perform { news.tell() }
    }
}
