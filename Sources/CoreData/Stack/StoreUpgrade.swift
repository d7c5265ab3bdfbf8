import Foundation

/// Migrates a store of another version of the model while it is added, where the options ask for it.
struct StoreUpgrade {
    let store: NSPersistentStore
    let model: NSManagedObjectModel

    /// - Throws: 134130 where the model that the store was written with is not found, 134140 where the mapping shall not be
    ///   inferred, 134190 where it cannot be, 134110 where the rows do not fit. The store is then as it was.
    func runIfNeeded() throws {
        let options = StoreOptions(store.options)
        guard options.migratesAutomatically, !store.isReadOnly,
            StoreCompatibility.difference(of: store, from: model) != nil
        else { return }
        let source = try sourceModel()
        guard options.infersMappingModel else {
            throw CoreDataError.make(
                134140,
                "There is no mapping model for the store \(path), and none shall be inferred "
                    + "(NSInferMappingModelAutomaticallyOption).",
                userInfo: ["sourceModel": source, "destinationModel": model])
        }
        try store.migrateByInference(from: source, to: model)
    }

    private var path: String { store.url?.path ?? "" }

    /// The model that the store keeps, or else one of the versions beside the program, by the version hashes.
    private func sourceModel() throws -> NSManagedObjectModel {
        let metadata = store.metadata ?? [:]
        if let url = store.url,
            let data = try? Swift.type(of: store).cachedModelData(at: url, options: store.options),
            let model = try? NSManagedObjectModel(cachedModelData: data, store: url.path, metadata: metadata),
            model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        {
            return model
        }
        if let model = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata) { return model }
        throw CoreDataError.make(
            134130,
            "The model that the store \(path) was written with is not found: neither in the store nor beside the program.",
            userInfo: ["metadata": metadata, "reason": "Can't find model for source store"])
    }
}
