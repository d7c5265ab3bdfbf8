import Foundation

/// Migrates a store of another model version while it is added, if the options ask for it.
struct StoreUpgrade {
    let store: NSPersistentStore
    let model: NSManagedObjectModel

    /// Migrates the store if needed. Uses a mapping model from the program's resources, or else infers one. A compiled
    /// mapping model that cannot be read is an error.
    ///
    /// - Throws: 134130 if the store's model is not found, 134140 if there is no mapping model and none may be
    ///   inferred, 134190 if it cannot be inferred, 134110 if the rows do not fit. The store is then unchanged.
    func runIfNeeded() throws {
        let options = StoreOptions(store.options)
        guard options.migratesAutomatically, !store.isReadOnly else { return }
        let manager = store.options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
        guard StoreCompatibility.difference(of: store, from: model) != nil else {
            guard let manager, StagedMigration.isAwaited(in: store.metadata) else { return }
            return try migrate(from: model, by: manager)
        }
        let source: NSManagedObjectModel
        do { source = try sourceModel() } catch {
            // Another program may have migrated the store since its metadata was read: then it already has the new
            // model.
            guard Swift.type(of: store).isOnServer else { throw error }
            try store.loadMetadata()
            guard StoreCompatibility.difference(of: store, from: model) != nil else { return }
            throw error
        }
        if let manager { return try migrate(from: source, by: manager) }
        if let mapping = try NSMappingModel.found(from: source, to: model) {
            return try migrate(from: source, by: mapping)
        }
        guard options.infersMappingModel else {
            throw CoreDataError.make(
                134140,
                "Found no mapping model for the store \(path), and inferring one is off "
                    + "(NSInferMappingModelAutomaticallyOption).",
                userInfo: ["sourceModel": source, "destinationModel": model])
        }
        if store.migratesInPlace { return try store.migrateByInference(from: source, to: model) }
        try migrate(
            from: source, by: NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model))
    }

    private var path: String { store.placeName }

    /// Checks that the store is a file.
    ///
    /// - Throws: 134110 for a store on a server.
    private func checkThatItIsAFile() throws {
        guard Swift.type(of: store).isOnServer else { return }
        throw CoreDataError.make(
            134110,
            "The store \(store.url?.absoluteString ?? "") is on a server, so only an inferred mapping model can migrate it "
                + "(NSInferMappingModelAutomaticallyOption). For another mapping model, copy the store to a file first."
        )
    }

    private func migrate(from source: NSManagedObjectModel, by manager: NSStagedMigrationManager) throws {
        try checkThatItIsAFile()
        guard let url = store.url else { return }
        store.releaseFile()
        try StagedMigration(
            manager: manager, url: url, type: store.type, options: store.options ?? [:], destination: model
        ).run(from: source.versionChecksum, source)
        try store.loadMetadata()
    }

    /// Migrates to a new store next to the old one, and replaces the old one once the new one is complete.
    private func migrate(from source: NSManagedObjectModel, by mapping: NSMappingModel) throws {
        try checkThatItIsAFile()
        guard let url = store.url else { return }
        let storeClass = Swift.type(of: store)
        let type = NSPersistentStore.StoreType(rawValue: store.type)
        guard let managerClass = storeClass.migrationManagerClass() as? NSMigrationManager.Type else {
            throw CoreDataError.make(
                134110, "\(storeClass).migrationManagerClass() is not a subclass of NSMigrationManager.")
        }
        store.releaseFile()
        let making = StoreInMaking(for: url.path, .automaticMigration) {
            storeClass.discard(URL(fileURLWithPath: $0))
        }
        let made = URL(fileURLWithPath: making.path)
        // Also after an error: without its mark, nothing would remove the new store later.
        defer {
            storeClass.discard(made)
            making.end()
        }
        let manager = managerClass.init(sourceModel: source, destinationModel: model)
        do {
            try manager.migrateStore(
                from: url, type: type, options: store.options, mapping: mapping, to: made, type: type,
                options: store.options)
            try storeClass.replaceStore(at: url, options: store.options, with: made, options: nil)
        } catch let error as NSError {
            throw CoreDataError.make(
                error.domain == NSCocoaErrorDomain && error.code != 134110 ? error.code : 134110,
                "The store \(path) was not migrated and is unchanged: \(error.localizedDescription)",
                underlying: error, userInfo: ["sourceURL": url, "destinationURL": made])
        }
        try store.loadMetadata()
    }

    /// The store's cached model, or else the installed model version with its version hashes.
    private func sourceModel() throws -> NSManagedObjectModel {
        let metadata = store.metadata ?? [:]
        if let url = store.url,
            let data = try store.cachedModelData(),
            let model = try? NSManagedObjectModel(cachedModelData: data, store: url.path, metadata: metadata),
            model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        {
            return model
        }
        if let model = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata) { return model }
        throw CoreDataError.make(
            134130,
            "Cannot find the model of the store \(path), neither in the store nor in the program's folder.",
            userInfo: ["metadata": metadata, "reason": "Can't find model for source store"])
    }
}

extension NSPersistentStore {
    /// Removes a store that was only made to be copied, as far as it was made.
    fileprivate static func discard(_ url: URL) {
        try? destroyStore(at: url, options: nil)
        removeFiles(at: url)
        StoreInMaking.discard(url.path)
    }
}
