import Foundation

/// The steps of adding a store to a coordinator; see ``NSPersistentStore``. Run under the lock.
struct StoreAddition {
    let type: String
    let configuration: String?
    let url: URL
    let options: [AnyHashable: Any]?
    /// Set if the store must be a new one.
    var creation: StoreMaking?

    /// Opens or creates the store, with a migration if needed.
    ///
    /// - Returns: the store, ready for use but not yet in the coordinator's list.
    func run(with coordinator: NSPersistentStoreCoordinator) throws -> any RowStore {
        let storeClass = try StoreTypeRegistry.storeClass(of: type)
        try checkThatItIsNew(to: coordinator)
        try checkConfiguration(of: coordinator.managedObjectModel)
        let store = storeClass.init(
            persistentStoreCoordinator: coordinator, configurationName: configuration, at: url, options: options)
        store.creation = creation
        do {
            try store.loadMetadata()
            try checkType(of: store)
            try checkIdentity(of: store, in: coordinator)
            try StoreUpgrade(store: store, model: coordinator.managedObjectModel).runIfNeeded()
            try StoreCompatibility.check(store, with: coordinator.managedObjectModel)
            try store.prepare()
        } catch {
            store.willRemove(from: coordinator)
            store.persistentStoreCoordinator = nil
            throw error
        }
        store.didAdd(to: coordinator)
        return store
    }

    /// Checks that the store's recorded type is the requested one.
    private func checkType(of store: any RowStore) throws {
        guard let written = store.metadata?[NSStoreTypeKey] as? String, written != type else { return }
        throw CoreDataError.make(
            134010,
            "Cannot open \(url.placeName) as a store of type \(type): it was written as one of type \(written).")
    }

    private func checkThatItIsNew(to coordinator: NSPersistentStoreCoordinator) throws {
        guard !url.isMemoryPlace, coordinator.persistentStore(for: url) != nil else { return }
        throw CoreDataError.make(134080, "The store \(url.placeName) is already open in this coordinator.")
    }

    /// Checks for a duplicate: one store on a server may have many URLs.
    private func checkIdentity(of store: any RowStore, in coordinator: NSPersistentStoreCoordinator) throws {
        guard Swift.type(of: store).isOnServer,
            coordinator.rowStores.contains(where: { $0.identifier == store.identifier })
        else { return }
        throw CoreDataError.make(
            134080, "The store \(url.withoutPassword) is already open in this coordinator, by another URL.")
    }

    private func checkConfiguration(of model: NSManagedObjectModel) throws {
        guard let configuration, configuration != NSPersistentStore.defaultConfigurationName,
            model.entities(forConfigurationName: configuration) == nil
        else { return }
        throw CoreDataError.make(
            134080, "Cannot open \(url.placeName): the model has no configuration named \(configuration).")
    }
}
