import Foundation

// Stores that move: copies of files and of rows. Nothing is lost on the way: a store is removed only once its
// replacement is complete.
extension NSPersistentStoreCoordinator {
    /// Puts a copy of the store at `sourceURL` in the place of the one at `destinationURL`, with its log, its history and its
    /// external data. A store that was there is gone afterwards; until the copy is whole and in its place it stands.
    ///
    /// The copy keeps the UUID of the source. If this coordinator has the destination open, its store is removed, as with
    /// `remove(_:)`, and added again with the same configuration and options once the copy is in its place. May be called on
    /// any thread, on which notifications are posted too; the coordinator's lock is held until the copy is made.
    ///
    /// - Parameters:
    ///   - destinationURL: the place that the copy takes.
    ///   - destinationOptions: the time to wait for a lock; with `NSPersistentStoreForceDestroyOption` a store is replaced
    ///     though others have it open.
    ///   - sourceURL: the store that is copied.
    ///   - sourceOptions: how to open the source.
    ///   - storeType: the type of both.
    /// - Throws: 134090 where another process has the destination open, 260 and 259 where there is no store at the source,
    ///   134100 where the coordinator has a store there and the copy does not fit its model.
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
        // The same store again if it was not replaced.
        for store in open {
            _ = try add(
                StoreAddition(
                    type: store.type, configuration: store.configurationName, url: store.url ?? destinationURL,
                    options: store.options))
        }
        try outcome.get()
    }

    /// Puts a copy of the store at `sourceURL`, with its UUID, log, history and external data, in the place of the one at
    /// `destinationURL`. May be called on any thread; the coordinator's lock is held until it is done.
    ///
    /// - Throws: 134090 where another process has the destination open, 260 and 259 where there is no store at the source,
    ///   134100 where the coordinator has a store there and the copy does not fit its model.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: sourceType.rawValue)
    }

    /// Saves a store as another one: copies all of it to `storeURL`, adds the copy with the same configuration, and takes
    /// the old store out, whose files stay. The copy has a UUID of its own, so its objects have other IDs. Objects that contexts
    /// have, with their unsaved changes, become those of the new store: at once on the caller's queue, later on others.
    ///
    /// Posts stores-did-change with `NSUUIDChangedPersistentStoresKey`: the old store, the new one, and the IDs of the new
    /// one's objects. May be called on any thread, on which notifications are posted too; the coordinator's lock is held
    /// while rows are copied.
    ///
    /// - Parameters:
    ///   - store: a store of this coordinator.
    ///   - URL: where the new store is made; nothing may be there yet.
    ///   - options: the new store's options.
    ///   - storeType: may be another type; then every row is read into memory.
    /// - Returns: the new store.
    /// - Throws: 516 where something stands at `storeURL` already; 134060 for a store of another coordinator; 134000 for an
    ///   unknown type; 134020, 134030, 513 or 640 where the new store cannot be made. Then the old store is still there, and
    ///   nothing at `storeURL`.
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

    /// Saves a store as another one, with a UUID of its own, and takes the old store out, whose files stay. May be called
    /// on any thread, on which notifications are posted too; the coordinator's lock is held while rows are copied.
    ///
    /// - Throws: 516 where something stands at `storeURL` already; 134060 for a store of another coordinator; 134000 for an
    ///   unknown type; 134020, 134030, 513 or 640 where the new store cannot be made. Then the old store is still there.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Tells a store that its file has moved to `url`: it goes on with that file, which must be the same store and fit its
    /// model. A store that is written as a whole is written there from now on. May be called on any thread.
    ///
    /// - Returns: whether it could; otherwise the store goes on where it was.
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

    /// Does all that lightweight migrations of the coordinator's stores have put off
    /// (`NSPersistentStoreDeferredLightweightMigrationOptionKey`), step by step: contexts get their turn between two steps.
    /// May be called on any thread.
    ///
    /// - Throws: 513 for a store that was opened read-only, 134020 where its tables do not fit the model, 134090 while another
    ///   program has locked it, 640 or 134080 where it cannot be written. What was done by then stays done.
    public func finishDeferredLightweightMigration() throws {
        while try finishDeferredStep() {}
    }

    /// Does one step of what lightweight migrations have put off: a table, a column, or the indexes. Nothing where nothing
    /// waits, which the metadata of the stores say: they have the option's key as long as something does. May be called on
    /// any thread; the coordinator's lock is held for the step.
    ///
    /// - Throws: 513 for a store that was opened read-only, 134020 where its tables do not fit the model, 134090 while another
    ///   program has locked it, 640 or 134080 where it cannot be written.
    public func finishDeferredLightweightMigrationTask() throws { _ = try finishDeferredStep() }

    /// - Returns: whether there is more to do.
    private func finishDeferredStep() throws -> Bool {
        try withLock {
            let waiting = rowStores.filter { DeferredWork.waits(in: $0.metadata) }
            guard let store = waiting.first else { return false }
            return try store.finishDeferredMigrationTask() || waiting.count > 1
        }
    }
}
