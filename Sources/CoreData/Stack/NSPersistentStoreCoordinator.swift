import Foundation

/// Connects a model to its stores, and serialises access to them.
///
/// Safe to use from any thread: all members take the coordinator's lock, which is recursive. A thread that has it may
/// wait for a context whose work needs the lock: that work borrows it.
// SAFETY: the recursive lock guards the label and the stores; the rest is immutable or has its own lock.
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    /// The model of all stores. It must not be changed once a coordinator uses it.
    public let managedObjectModel: NSManagedObjectModel

    let access = ChainLock()
    private let workQueue = DispatchQueue(label: "CoreData.NSPersistentStoreCoordinator")
    private var label: String?
    private var stores: [any RowStore] = []
    /// The stores that a thread is removing.
    private var leaving: Set<ObjectIdentifier> = []
    private let observers = CommitObservers()
    let remoteChanges = RemoteChangeWatcher()

    /// Creates a coordinator without stores.
    ///
    /// - Parameter model: the model of all stores, immutable from now on.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        super.init()
        model.freeze()
        remoteChanges.attach(to: self)
    }

    /// Creates a coordinator with an empty model.
    public convenience override init() { self.init(managedObjectModel: NSManagedObjectModel()) }

    /// Closes the stores. A close error loses no saved data and cannot be reported, so it is ignored.
    deinit {
        for store in stores { try? store.operations.close() }
    }

    /// A label for descriptions and logs.
    open var name: String? {
        get { withLock { label } }
        set { withLock { label = newValue } }
    }

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { withLock { stores } }

    /// The stores as `RowStore`s.
    final var rowStores: [any RowStore] { withLock { stores } }

    /// The stores in `named` that the coordinator has, in the coordinator's order.
    final func rowStores(among named: [NSPersistentStore]) -> [any RowStore] {
        let stores = rowStores
        return named.compactMap { store in stores.first { $0 === store } }
    }

    // MARK: The lock

    /// Runs `body` while no other thread uses the stores. May be nested.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try access.withLock(.beneath, body) }

    /// Waits for the lock. Prefer `performAndWait(_:)`.
    public func lock() { access.lock(.asked) }

    /// Releases the lock that `lock()` or `tryLock()` took. Called by the chain of calls that has it.
    public func unlock() { access.unlock() }

    /// Takes the lock if no other thread has it.
    ///
    /// - Returns: True if the lock was taken; then call `unlock()`.
    public func tryLock() -> Bool { access.tryLock() }

    /// Runs `block` now, on the calling thread, while no other thread uses the stores. May be nested.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try access.withLock(.asked, block) }

    /// Runs `block` later, on another thread, while no other thread uses the stores.
    ///
    /// The closure is not isolated to an actor, like that of ``NSManagedObjectContext/perform(_:)``.
    @preconcurrency
    public func perform(_ block: @escaping @Sendable () -> Void) {
        workQueue.async { self.access.withLock(.asked, block) }
    }

    /// Runs `block` on another thread, while no other thread uses the stores, and returns its result. Throws the
    /// error of `block`.
    @preconcurrency
    nonisolated(nonsending) public func perform<T, E: Error>(
        _ block: @escaping @Sendable () throws(E) -> T
    ) async throws(E) -> T {
        let result: UncheckedSendable<Result<T, E>> = await withCheckedContinuation { continuation in
            perform {
                let outcome = Result { () throws(E) in try block() }
                continuation.resume(returning: UncheckedSendable(outcome))
            }
        }
        return try result.value.get()
    }

    // MARK: Stores

    /// Opens the store at `storeURL`, or creates it if there is none, and adds it. May be called on any thread;
    /// stores-did-change is posted on that thread. The coordinator's lock is held until the store is open; a
    /// migration may take long.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType` or another registered type.
    ///   - configuration: the configuration of the model whose entities the store has; `nil` means all entities.
    ///   - options: the store's options by key, such as `NSReadOnlyPersistentStoreOption`.
    ///   - storeURL: `nil`, or the URL of `/dev/null`, for a store without a file. Such an SQLite store is in memory,
    ///     with all features, until it is removed. Each added one is a separate store.
    /// - Throws: 134100 if the store was written with another model, 134080 if it cannot be opened, 134000 for an
    ///   unknown type, 259 if it is not a store, and errors of the store.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try add(
            StoreAddition(
                type: storeType, configuration: configuration, url: storeURL ?? .memoryPlace, options: options))
    }

    /// Adds a store and posts the notifications.
    func add(_ addition: StoreAddition) throws -> any RowStore {
        let store = try withLock {
            let store = try addition.run(with: self)
            stores.append(store)
            remoteChanges.storesDidChange(stores)
            return store
        }
        storesDidChange(NSAddedPersistentStoresKey, store)
        return store
    }

    /// Opens the store at `storeURL`, or creates it if there is none, and adds it. May be called on any thread; the
    /// coordinator's lock is held until the store is open.
    ///
    /// - Throws: 134100 if the store was written with another model, 134080 if it cannot be opened, 134000 for an
    ///   unknown type, 259 if it is not a store, and errors of the store.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds the described store: at once and on this thread, unless the description asks for another.
    ///
    /// - Parameters:
    ///   - storeDescription: the store's URL, type, configuration and options.
    ///   - block: called once, on the thread that added the store, with the error if that failed.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = UncheckedSendable { [self] in
            do {
                try addPersistentStore(
                    ofType: storeDescription.type, configurationName: storeDescription.configuration,
                    at: storeDescription.url, options: storeDescription.options)
                block(storeDescription, nil)
            } catch {
                block(storeDescription, error)
            }
        }
        if storeDescription.shouldAddStoreAsynchronously {
            DispatchQueue.global().async { work.value() }
        } else {
            work.value()
        }
    }

    /// Closes and removes a store. Its objects become invalid in every context. May be called on any thread;
    /// will-remove and stores-did-change are posted on that thread.
    ///
    /// - Throws: 134060 for a store of another coordinator; the store's error if closing it fails.
    open func remove(_ store: NSPersistentStore) throws {
        let own = try beginRemoval(of: store)
        defer { withLock { _ = leaving.remove(ObjectIdentifier(store)) } }
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        try withLock {
            store.willRemove(from: self)
            stores.removeAll { $0 === store }
            remoteChanges.storesDidChange(stores)
            QueryGeneration.end(with: own)
            try own.operations.close()
            store.persistentStoreCoordinator = nil
        }
        for observer in observers.live { observer.coordinatorDidRemove(store) }
        storesDidChange(NSRemovedPersistentStoresKey, store)
    }

    /// Lets only one caller remove a store, so that its hooks are called once.
    private func beginRemoval(of store: NSPersistentStore) throws -> any RowStore {
        try withLock {
            if let own = rowStores(among: [store]).first, leaving.insert(ObjectIdentifier(store)).inserted {
                return own
            }
            throw CoreDataError.make(
                134060,
                "Cannot remove the store \(store.placeName): this coordinator does not have it or is already removing it."
            )
        }
    }

    /// The store at a URL; `nil` if the coordinator has none there.
    open func persistentStore(for URL: URL) -> NSPersistentStore? {
        rowStores.first { $0.isKept(at: URL) }
    }

    /// The URL of a store.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? .memoryPlace }

    /// A store's metadata, with at least `NSStoreTypeKey` and `NSStoreUUIDKey`.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { withLock { store.metadata ?? [:] } }

    /// Changes a store's metadata in memory; the next save writes it. Type and UUID do not change.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        withLock {
            var metadata = metadata ?? [:]
            metadata[NSStoreTypeKey] = store.type
            metadata[NSStoreUUIDKey] = store.identifier
            store.metadata = metadata
        }
    }

    /// Notifies contexts that a store was replaced, so that they transfer its objects to the new store.
    func didMove(_ move: StoreMove) { for observer in observers.live { observer.coordinatorDidMove(move) } }

    private func storesDidChange(_ key: String, _ store: NSPersistentStore) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [key: [store]])
    }

    // MARK: Commits

    /// The history token in did-save notifications; `nil` if no store keeps a history.
    final var tokenOfSave: NSObject? { tokenOfLastSave }

    /// Adds an observer of all commits. It is not retained.
    func addCommitObserver(_ observer: any CommitObserver) { observers.add(observer) }

    /// True if a context has not yet merged other processes' commits.
    var hasObserversBehind: Bool { observers.live.contains { $0.isBehind } }

    /// Notifies all observers that the stores can be read. Call it outside the lock.
    func storesAnswer() {
        for observer in observers.live { observer.storesAnswer() }
    }

    /// Posts that batches changed stores. Contexts are not notified: a program merges the changes that it wants them
    /// to have. Call it outside the lock.
    func didWriteBatch(to stores: [NSPersistentStore]) { remoteChanges.ownCommit(to: stores) }

    /// Notifies all observers of a commit, and posts that stores changed. Call it outside the lock, after the
    /// transaction.
    func didCommit(_ changes: CommittedChanges, from source: AnyObject?) {
        guard !changes.isEmpty else { return }
        for observer in observers.live { observer.coordinatorDidCommit(changes, from: source) }
        if source != nil { remoteChanges.ownCommit(to: changes.stores) }
    }
}
