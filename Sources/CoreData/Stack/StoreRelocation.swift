import Foundation

/// The steps of `migratePersistentStore(_:to:options:withType:)` up to the new store. Run under the lock.
struct StoreRelocation {
    let coordinator: NSPersistentStoreCoordinator
    let store: any RowStore
    let url: URL
    let options: [AnyHashable: Any]?
    let type: String
    private let creation: StoreMaking

    /// - Throws: 134060 if the coordinator does not have the store.
    init(
        coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore, url: URL, options: [AnyHashable: Any]?,
        type: String
    ) throws {
        guard let own = coordinator.rowStores(among: [store]).first, own.url != nil else {
            throw CoreDataError.make(
                134060, "Cannot migrate the store \(store.placeName): this coordinator does not have it.")
        }
        self.coordinator = coordinator
        self.store = own
        self.url = url
        self.options = options
        self.type = type
        creation = StoreMaking(like: own.url)
    }

    /// - Returns: the new store with its mapping of rows, and the IDs of its objects. The coordinator has the store.
    func run() throws -> (StoreMove, [NSManagedObjectID]) {
        let oldPath = store.url?.path ?? ""
        try coordinator.managedObjectModel.checkThatItMayWrite(store.placeName)
        guard url.isMemoryPlace || !url.isFileURL || !FileManager.default.fileExists(atPath: url.path) else {
            throw CoreDataError.make(
                516, "Cannot migrate the store \(oldPath) to \(url.path): the file already exists.",
                userInfo: [NSFilePathErrorKey: url.path])
        }
        let storeClass = try StoreTypeRegistry.storeClass(of: type)
        guard try url.isFileURL || storeClass.holdsNothing(at: url) else {
            throw CoreDataError.make(
                516, "Cannot migrate the store \(oldPath) to \(url.withoutPassword): a store already exists there.")
        }
        try storeClass.checkThatNothingIsLeft(at: url)
        if store.hasUnsavedMetadata, !store.isReadOnly { try store.operations.save(StoreChangeSet()) }
        do {
            guard type == store.type, storeClass.copiesFiles, !url.isMemoryPlace else { return try copyRows() }
            return try copyFiles(storeClass)
        } catch {
            storeClass.removeUnfinished(at: url, creation)
            throw error
        }
    }

    private func add() throws -> any RowStore {
        try coordinator.add(
            StoreAddition(
                type: type, configuration: configuration, url: url, options: options ?? store.options,
                creation: creation))
    }

    private var configuration: String? {
        store.configurationName == NSPersistentStore.defaultConfigurationName ? nil : store.configurationName
    }

    private var entities: [NSEntityDescription] {
        coordinator.managedObjectModel.entities(forConfigurationName: store.configurationName)
            ?? coordinator.managedObjectModel.entities
    }

    /// Copies the store's files, so that rows keep their keys.
    private func copyFiles(
        _ storeClass: any RowStore.Type
    ) throws -> (StoreMove, [NSManagedObjectID]) {
        try store.copyContents(to: url)
        var metadata = try storeClass.metadataForPersistentStore(with: url)
        metadata[NSStoreUUIDKey] = UUID().uuidString
        try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
        let new = try add()
        var ids: [NSManagedObjectID] = []
        let all = entities
        for root in all where !all.contains(where: { $0 === root.superentity }) {
            var query = StoreQuery(entity: root)
            query.wantsRows = false
            ids += try new.operations.fetch(query).keys.map(new.operations.objectID(for:))
        }
        return (StoreMove(from: store, to: new), ids)
    }

    private func copyRows() throws -> (StoreMove, [NSManagedObjectID]) {
        try store.operations.unreadable.refuseLoss("copy the rows of")
        let new = try add()
        do {
            let metadata = DeferredWork.leftOut(of: store.metadata ?? [:]).merging(new.metadata ?? [:]) { $1 }
            coordinator.setMetadata(metadata, for: new)
            var copier = StoreCopier(from: store, to: new, entities: entities)
            let ids = try copier.run()
            return (StoreMove(from: store, to: new, ids: ids), Array(ids.values))
        } catch {
            try? coordinator.remove(new)
            throw error
        }
    }
}
