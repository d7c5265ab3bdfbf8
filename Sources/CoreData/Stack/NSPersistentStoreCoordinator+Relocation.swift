import Foundation

// Moving stores: copies of files and of rows. To avoid data loss, a store is removed only once its replacement is
// complete.
extension NSPersistentStoreCoordinator {
    /// Replaces the store at `destinationURL` by a copy of the one at `sourceURL`, with its log, its history and its
    /// external data. An existing store remains until the copy is complete and in its place.
    ///
    /// The copy keeps the UUID of the source. If this coordinator has the destination open, its store is removed, as
    /// with `remove(_:)`, and added again with the same configuration and options after the replacement. May be
    /// called on any thread; notifications are posted on that thread, and the coordinator's lock is held until the
    /// copy is made.
    ///
    /// - Parameters:
    ///   - destinationURL: the URL of the copy.
    ///   - destinationOptions: the time to wait for a lock; `NSPersistentStoreForceDestroyOption` replaces a store
    ///     even if it is open elsewhere.
    ///   - sourceURL: the store to copy.
    ///   - sourceOptions: options for opening the source.
    ///   - storeType: the type of both stores.
    /// - Throws: 134090 if another process has the destination open, 260 or 259 if there is no store at the source,
    ///   134100 if the coordinator has a store there and the copy does not fit its model.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        let storeClass = try StoreTypeRegistry.storeClass(of: storeType)
        let open = rowStores.filter { $0.isKept(at: destinationURL) }
        for store in open { try remove(store) }
        let outcome = Result {
            try withLock {
                try storeClass.replaceStore(
                    at: destinationURL, options: destinationOptions, with: sourceURL, options: sourceOptions)
            }
        }
        // If the replacement failed, this adds the old store again.
        for store in open {
            _ = try add(
                StoreAddition(
                    type: store.type, configuration: store.configurationName, url: store.url ?? destinationURL,
                    options: store.options))
        }
        try outcome.get()
    }

    /// Replaces the store at `destinationURL` by a copy of the one at `sourceURL`, with its UUID, log, history and
    /// external data. May be called on any thread; the coordinator's lock is held until it is done.
    ///
    /// - Throws: 134090 if another process has the destination open, 260 or 259 if there is no store at the source,
    ///   134100 if the coordinator has a store there and the copy does not fit its model.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: sourceType.rawValue)
    }

    /// Saves a store as another one: copies it to `storeURL`, adds the copy with the same configuration, and removes
    /// the old store from the coordinator. The old files remain. The copy has a new UUID, so its objects have new
    /// IDs. Objects in contexts, with their unsaved changes, become objects of the new store: at once on the caller's
    /// queue, later on other queues.
    ///
    /// Posts stores-did-change with `NSUUIDChangedPersistentStoresKey`: the old store, the new one, and the IDs of
    /// the new one's objects. May be called on any thread; notifications are posted on that thread, and the
    /// coordinator's lock is held while rows are copied.
    ///
    /// - Parameters:
    ///   - store: a store of this coordinator.
    ///   - URL: the URL of the new store; nothing may exist there.
    ///   - options: the new store's options.
    ///   - storeType: may be another type; then every row is read into memory.
    /// - Returns: the new store.
    /// - Throws: 516 if something exists at `storeURL`; 134060 for a store of another coordinator; 134000 for an
    ///   unknown type; 134020, 134030, 513 or 640 if the new store cannot be made. Then the old store is kept, and
    ///   `storeURL` remains empty.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        let (move, ids) = try withLock {
            try StoreRelocation(coordinator: self, store: store, url: URL, options: options, type: storeType).run()
        }
        let new = move.store
        didMove(move)
        try remove(store)
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
            userInfo: [NSUUIDChangedPersistentStoresKey: [store, new, ids] as [Any]])
        return new
    }

    /// Saves a store as another one with a new UUID, and removes the old store from the coordinator. The old files
    /// remain. May be called on any thread; notifications are posted on that thread, and the coordinator's lock is
    /// held while rows are copied.
    ///
    /// - Throws: 516 if something exists at `storeURL`; 134060 for a store of another coordinator; 134000 for an
    ///   unknown type; 134020, 134030, 513 or 640 if the new store cannot be made. Then the old store is kept.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Notifies a store that its file has moved to `url`. The store continues with that file, which must be the same
    /// store and fit its model. An atomic store writes to `url` from now on. May be called on any thread.
    ///
    /// - Returns: True if the store now uses `url`; otherwise it keeps its URL.
    @discardableResult
    public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        withLock {
            guard rowStores.contains(where: { $0 === store }) else { return false }
            do {
                try store.reconnect(to: url)
                return true
            } catch {
                return false
            }
        }
    }

    /// Finishes the deferred lightweight migrations of the coordinator's stores
    /// (`NSPersistentStoreDeferredLightweightMigrationOptionKey`), step by step. Contexts can run between two steps.
    /// May be called on any thread.
    ///
    /// - Throws: 513 for a store that was opened read-only, 134020 if its tables do not fit the model, 134090 while
    ///   another program has locked it, 640 or 134080 if it cannot be written. Completed steps are kept.
    public func finishDeferredLightweightMigration() throws {
        while try finishDeferredStep() {}
    }

    /// Runs one step of the deferred lightweight migrations: a table, a column, or the indexes. Has no effect if
    /// nothing is deferred. While something is, a store's metadata contains the option's key. May be called on any
    /// thread; the coordinator's lock is held for the step.
    ///
    /// - Throws: 513 for a store that was opened read-only, 134020 if its tables do not fit the model, 134090 while
    ///   another program has locked it, 640 or 134080 if it cannot be written.
    public func finishDeferredLightweightMigrationTask() throws { _ = try finishDeferredStep() }

    /// Runs one deferred step of a lightweight migration.
    ///
    /// - Returns: True if there are more steps.
    private func finishDeferredStep() throws -> Bool {
        try withLock {
            let waiting = rowStores.filter { DeferredWork.waits(in: $0.metadata) }
            guard let store = waiting.first else { return false }
            return try store.finishDeferredMigrationTask() || waiting.count > 1
        }
    }
}
