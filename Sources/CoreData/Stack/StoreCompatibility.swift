import Foundation

/// Compares a store's version hashes with those of a model.
struct StoreCompatibility {
    /// Entities in the model but not in the store.
    private(set) var onlyInModel: [String] = []
    /// Entities in the store but not in the model.
    private(set) var onlyInStore: [String] = []
    /// Entities in both, with different hashes.
    private(set) var different: [String] = []

    var isCompatible: Bool { onlyInModel.isEmpty && onlyInStore.isEmpty && different.isEmpty }

    /// - Parameters:
    ///   - storeHashes: entity name → hash, as in the store's metadata.
    ///   - modelHashes: entity name → hash, of the store's configuration.
    init(storeHashes: [String: Data], modelHashes: [String: Data]) {
        for (name, hash) in modelHashes {
            switch storeHashes[name] {
            case nil: onlyInModel.append(name)
            case hash?: break
            case _?: different.append(name)
            }
        }
        onlyInStore = storeHashes.keys.filter { modelHashes[$0] == nil }.sorted()
        onlyInModel.sort()
        different.sort()
    }

    /// The differing entities as a clause for a message.
    var summary: String {
        var parts: [String] = []
        if !different.isEmpty { parts.append("\(different.joined(separator: ", ")) changed") }
        if !onlyInModel.isEmpty { parts.append("\(onlyInModel.joined(separator: ", ")) only in the model") }
        if !onlyInStore.isEmpty { parts.append("\(onlyInStore.joined(separator: ", ")) only in the store") }
        return parts.joined(separator: "; ")
    }

    /// The difference between a store's metadata and its coordinator's model; `nil` if they fit.
    ///
    /// A store without hashes fits any model. An inferred model has no hashes of its own.
    static func difference(of store: NSPersistentStore, from model: NSManagedObjectModel) -> StoreCompatibility? {
        guard let storeHashes = hashes(in: store.metadata), !StoreOptions(store.options).ignoresVersioning,
            !model.isInferred
        else {
            return nil
        }
        var modelHashes = VersionHash.entities(of: model, as: storeHashes)
        if store.configurationName != NSPersistentStore.defaultConfigurationName,
            let entities = model.entities(forConfigurationName: store.configurationName)
        {
            let names = Set(entities.compactMap(\.name))
            modelHashes = modelHashes.filter { names.contains($0.key) }
        }
        let comparison = StoreCompatibility(storeHashes: storeHashes, modelHashes: modelHashes)
        return comparison.isCompatible ? nil : comparison
    }

    /// Checks that a store's metadata fits its coordinator's model.
    ///
    /// - Throws: `NSPersistentStoreIncompatibleVersionHashError` (134100), which names the entities that differ.
    static func check(_ store: NSPersistentStore, with model: NSManagedObjectModel) throws {
        guard let comparison = difference(of: store, from: model) else { return }
        throw CoreDataError.make(
            134100,
            "The store \(store.placeName) was written with another version of the model (\(comparison.summary)); "
                + "open it with that version, or set options to migrate it "
                + "(NSMigratePersistentStoresAutomaticallyOption).",
            userInfo: [
                "metadata": store.metadata ?? [:],
                "reason": "The model used to open the store is incompatible with the one used to create the store",
            ])
    }

    private static func hashes(in metadata: [String: Any]?) -> [String: Data]? {
        guard let kept = metadata?[NSStoreModelVersionHashesKey] as? [String: Any] else { return nil }
        return kept.compactMapValues { value in (value as? Data) ?? (value as? NSData).map { Data(referencing: $0) } }
    }
}
