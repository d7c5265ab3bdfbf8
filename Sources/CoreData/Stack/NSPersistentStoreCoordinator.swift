import Foundation

/// Ties a model to its stores, and lets one piece of work at a time reach them.
///
/// Safe to use from any thread: all members take the coordinator's lock, which is recursive. A thread that has it may wait for a
/// context whose work needs it: that work borrows it.
// SAFETY: the recursive lock guards the label and the stores; the rest is immutable or has its own lock.
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    /// The model of all stores. It must not be changed once a coordinator uses it.
    public let managedObjectModel: NSManagedObjectModel

    let access = ChainLock()
    private let workQueue = DispatchQueue(label: "CoreData.NSPersistentStoreCoordinator")
    private var label: String?
    private var stores: [any RowStore] = []
    /// Those that a thread is taking out.
    private var leaving: Set<ObjectIdentifier> = []
    private let observers = CommitObservers()
    let remoteChanges = RemoteChangeWatcher()

    /// A coordinator without stores.
    ///
    /// - Parameter model: the model of all stores, which cannot be changed from now on.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        super.init()
        model.freeze()
        remoteChanges.attach(to: self)
    }

    /// A coordinator of an empty model.
    public convenience override init() { self.init(managedObjectModel: NSManagedObjectModel()) }

    /// The stores can no longer be used. A failure to close costs nothing that was saved, and has no caller to go to.
    deinit {
        for store in stores { try? store.operations.close() }
    }

    /// Labels the coordinator in descriptions and logs.
    open var name: String? {
        get { withLock { label } }
        set { withLock { label = newValue } }
    }

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { withLock { stores } }

    /// The same, as what can be asked for rows.
    final var rowStores: [any RowStore] { withLock { stores } }

    /// Those of `named` that the coordinator has, in their order.
    final func rowStores(among named: [NSPersistentStore]) -> [any RowStore] {
        let stores = rowStores
        return named.compactMap { store in stores.first { $0 === store } }
    }

    // MARK: The lock

    /// Runs `body` while no other thread works with the stores. May be nested.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try access.withLock(.beneath, body) }

    /// Waits for the lock. Prefer `performAndWait(_:)`.
    public func lock() { access.lock(.asked) }

    /// Gives the lock back that `lock()` or `tryLock()` took. Called by the chain of calls that has it.
    public func unlock() { access.unlock() }

    /// Takes the lock if no other thread has it.
    ///
    /// - Returns: whether the lock was taken, and `unlock()` is owed.
    public func tryLock() -> Bool { access.tryLock() }

    /// Runs `block` now, on the calling thread, while no other thread works with the stores. May be nested.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try access.withLock(.asked, block) }

    /// Runs `block` later, on another thread, while no other thread works with the stores.
    ///
    /// The closure belongs to no actor, as that of ``NSManagedObjectContext/perform(_:)``.
    @preconcurrency
    public func perform(_ block: @escaping @Sendable () -> Void) {
        workQueue.async { self.access.withLock(.asked, block) }
    }

    /// Runs `block` on another thread, while no other thread works with the stores, and gives back what it returns. Throws
    /// what `block` throws.
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

    /// Opens the store at `storeURL`, making it where nothing is there, and adds it. May be called on any thread, on which
    /// stores-did-change is posted too. The coordinator's lock is held until the store is open, which a migration may make
    /// long.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType` or another registered type.
    ///   - configuration: the configuration of the model whose entities the store holds; `nil` means all entities.
    ///   - options: the store's options by their keys, such as `NSReadOnlyPersistentStoreOption`.
    ///   - storeURL: `nil`, or the URL of `/dev/null`, for a store that keeps nothing in a file: an SQLite store there lives in
    ///     memory, complete in everything else, as long as the coordinator has it. Each one that is added is another.
    /// - Throws: 134100 when the store was written with another model, 134080 when it cannot be opened, 134000 for an
    ///   unknown type, 259 when it is no store, and others of the store's own.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try add(
            StoreAddition(
                type: storeType, configuration: configuration, url: storeURL ?? .memoryPlace, options: options))
    }

    /// Adds a store and tells the world.
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

    /// Opens the store at `storeURL`, making it where nothing is there, and adds it. May be called on any thread; the
    /// coordinator's lock is held until the store is open.
    ///
    /// - Throws: 134100 when the store was written with another model, 134080 when it cannot be opened, 134000 for an
    ///   unknown type, 259 when it is no store, and others of the store's own.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds the store that a description describes: at once and on this thread, unless the description asks for another.
    ///
    /// - Parameters:
    ///   - storeDescription: the store's place, type, configuration and options.
    ///   - block: called once, on the thread that added the store, with the error where that failed.
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

    /// Closes a store and takes it out. Its objects become invalid in every context. May be called on any thread, on which
    /// will-remove and stores-did-change are posted too.
    ///
    /// - Throws: 134060 for a store that is not of this coordinator; the store's own error where closing it fails.
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

    /// Lets one caller at a time take a store out: its hooks are called once.
    private func beginRemoval(of store: NSPersistentStore) throws -> any RowStore {
        try withLock {
            if let own = rowStores(among: [store]).first, leaving.insert(ObjectIdentifier(store)).inserted {
                return own
            }
            throw CoreDataError.make(
                134060,
                "Cannot remove the store \(store.placeName): it is not one of this coordinator's, or is being removed."
            )
        }
    }

    /// The store at a URL; `nil` where the coordinator has none there.
    open func persistentStore(for URL: URL) -> NSPersistentStore? {
        rowStores.first { $0.isKept(at: URL) }
    }

    /// Where a store is kept.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? .memoryPlace }

    /// What a store says of itself; holds at least `NSStoreTypeKey` and `NSStoreUUIDKey`.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { withLock { store.metadata ?? [:] } }

    /// Changes what a store says of itself, in memory: the next save writes it. Type and UUID stay as they are.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        withLock {
            var metadata = metadata ?? [:]
            metadata[NSStoreTypeKey] = store.type
            metadata[NSStoreUUIDKey] = store.identifier
            store.metadata = metadata
        }
    }

    /// Lets contexts take the objects of a store over into the one that took its place.
    func didMove(_ move: StoreMove) { for observer in observers.live { observer.coordinatorDidMove(move) } }

    private func storesDidChange(_ key: String, _ store: NSPersistentStore) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [key: [store]])
    }

    // MARK: Commits

    /// The history token that did-save notifications carry; `nil` if no store keeps a history.
    final var tokenOfSave: NSObject? { tokenOfLastSave }

    /// Lets `observer` hear of every commit, until it is gone.
    func addCommitObserver(_ observer: any CommitObserver) { observers.add(observer) }

    /// Whether a context has not come yet to what other processes committed.
    var hasObserversBehind: Bool { observers.live.contains { $0.isBehind } }

    /// Tells all observers that the stores can be read. Call it outside of the lock.
    func storesAnswer() {
        for observer in observers.live { observer.storesAnswer() }
    }

    /// Tells the world that batches changed stores. Contexts hear nothing: a program merges what it wants them to see. Call it
    /// outside of the lock.
    func didWriteBatch(to stores: [NSPersistentStore]) { remoteChanges.ownCommit(to: stores) }

    /// Tells all observers what was committed, and the world that stores changed. Call it outside of the lock, after
    /// the transaction.
    func didCommit(_ changes: CommittedChanges, from source: AnyObject?) {
        guard !changes.isEmpty else { return }
        for observer in observers.live { observer.coordinatorDidCommit(changes, from: source) }
        if source != nil { remoteChanges.ownCommit(to: changes.stores) }
    }
}
