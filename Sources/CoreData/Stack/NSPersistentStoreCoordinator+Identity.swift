import Foundation

// Finds the store of an entity or an ID.
extension NSPersistentStoreCoordinator {
    /// The store for new objects of `entity`: the first writable one whose configuration includes it.
    ///
    /// - Throws: 513 if every such store is read-only, 134020 if no store has the entity.
    func store(for entity: NSEntityDescription) throws -> any RowStore {
        let candidates = stores(holding: entity)
        if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
        let entityName = entity.name ?? "(no name)"
        if let readOnly = candidates.first {
            throw CoreDataError.make(
                513, "Cannot save objects of \(entityName): the store \(readOnly.placeName) is open read-only.",
                userInfo: [NSAffectedStoresErrorKey: [readOnly]])
        }
        throw CoreDataError.make(
            134020, "Cannot save objects of \(entityName): no store of the coordinator has this entity.")
    }

    /// All stores whose configuration includes `entity`, in the order in which they were added.
    func stores(holding entity: NSEntityDescription) -> [any RowStore] {
        rowStores.filter { store in
            guard store.configurationName != NSPersistentStore.defaultConfigurationName,
                let entities = managedObjectModel.entities(forConfigurationName: store.configurationName)
            else { return true }
            return entities.contains { $0.name == entity.name }
        }
    }

    /// The ID represented by `url`; `nil` if no store of the coordinator has its UUID, or the model or the store's
    /// configuration does not have its entity.
    ///
    /// Does not check that the row exists. A temporary ID cannot be found by its URI.
    public func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard url.scheme?.lowercased() == "x-coredata", let storeIdentifier = url.host else { return nil }
        let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath ?? url.path
        let parts = path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard parts.count == 2, parts[1].first == "p", let entity = managedObjectModel.entitiesByName[parts[0]]
        else { return nil }
        let text = String(parts[1].dropFirst())
        return withLock {
            let store = stores(holding: entity).first { store in
                (store.identifier ?? "").caseInsensitiveCompare(storeIdentifier) == .orderedSame
            }
            guard let store, let number = store.number(ofURIText: text, entity) else {
                return nil
            }
            return store.operations.objectID(for: RowKey(entity: UInt32(entity.layout.index), reference: number))
        }
    }

    /// The ID represented by a URI as text; `nil` if it is not a URI, no store of the coordinator has its UUID, or
    /// the model or the store's configuration does not have its entity.
    public func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }
}
