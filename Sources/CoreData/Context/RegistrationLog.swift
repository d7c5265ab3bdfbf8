/// Which rows of an incremental store came into a context and left it, until the store is told.
///
/// Rows are noted one by one, in the midst of other work, and told together when that is done: the store's class is a
/// program's own code, which may ask the context for anything.
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

        /// What came first: a row that came and left is told of in both.
        func tell() {
            coordinator.withLock {
                let operations = store.operations
                if !came.isEmpty { store.managedObjectContextDidRegisterObjects(with: came.map(operations.objectID)) }
                if !left.isEmpty { store.managedObjectContextDidUnregisterObjects(with: left.map(operations.objectID)) }
            }
        }
    }

    /// What was noted since it was last asked for; `nil` where there is nothing, or no store to tell.
    private func takeNews() -> News? {
        guard !came.isEmpty || !left.isEmpty else { return nil }
        defer { (came, left) = ([], []) }
        guard let store, let coordinator = store.persistentStoreCoordinator else { return nil }
        return News(store: store, coordinator: coordinator, came: came, left: left)
    }

    /// Tells the store now, under the coordinator's lock.
    func tell() { takeNews()?.tell() }

    /// Tells the store from another thread: the context goes away, perhaps where the lock must not be waited for.
    func tellLater() {
        guard let news = takeNews() else { return }
        news.coordinator.perform { news.tell() }
    }
}
