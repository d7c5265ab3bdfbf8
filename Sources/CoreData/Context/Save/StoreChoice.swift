import Foundation

/// Chooses the store of each new object.
///
/// An object that was assigned to a store is saved there. If several stores hold its entity, an object is saved in the
/// store of the objects that it is related to, directly or through other new objects: relationships cannot cross
/// stores. All others are saved in the first store that holds their entity.
struct StoreChoice {
    private let context: NSManagedObjectContext
    private let source: any ContextSource
    /// The groups of related objects as trees: for each object but the root of its tree, an object nearer to the root.
    private var leaders: [ObjectIdentifier: ObjectIdentifier] = [:]
    /// The stores of the saved and assigned objects of each tree, by its root.
    private var stores: [ObjectIdentifier: [any RowStore]] = [:]
    /// The store and the entity of the last assigned object, already checked: the next object usually has the same.
    private var checked: (store: any RowStore, layout: EntityLayout)?

    /// Finds the groups of related objects. Costs nothing if the coordinator has one store; otherwise a pass over all
    /// relationships of new and changed objects.
    init(context: NSManagedObjectContext, source: any ContextSource) {
        self.context = context
        self.source = source
        guard (source.coordinator?.rowStores.count ?? 0) > 1 else { return }
        let changed = context.changes.inserted.all + context.changes.updated.all
        for object in changed {
            note(object.objectID, of: object)
            join(object)
        }
    }

    /// True if all new objects of one entity that were not assigned to a store have the same store.
    var isByEntity: Bool { stores.isEmpty }

    /// Chooses the store of a new object.
    ///
    /// - Throws: 513 if every store that holds the entity is read-only; 134020 if none holds it, or the assigned store
    ///   does not.
    mutating func store(for object: NSManagedObject) throws -> any RowStore {
        if let assigned = object.objectID.rowStore {
            if checked?.store !== assigned || checked?.layout !== object.layout {
                try check(assigned, holds: object.layout.entity)
                checked = (assigned, object.layout)
            }
            return assigned
        }
        let entity = object.layout.entity
        guard let near = stores[leader(ObjectIdentifier(object))], let coordinator = source.coordinator else {
            return try source.store(for: entity)
        }
        let writable = coordinator.stores(holding: entity).filter { !$0.isReadOnly }
        return try writable.first { store in near.contains { $0 === store } } ?? source.store(for: entity)
    }

    private func check(_ store: any RowStore, holds entity: NSEntityDescription) throws {
        let coordinator = source.coordinator
        let reason: String
        if coordinator?.rowStores.contains(where: { $0 === store }) != true {
            reason = "the context's coordinator does not have this store"
        } else if coordinator?.stores(holding: entity).contains(where: { $0 === store }) != true {
            reason = "its configuration \(store.configurationName) does not have this entity"
        } else {
            return
        }
        throw CoreDataError.make(
            134020,
            "Cannot save objects of \(entity.name ?? "(no name)") to the store \(store.placeName) that they are "
                + "assigned to: \(reason).", userInfo: [NSAffectedStoresErrorKey: [store]])
    }

    // MARK: Related objects

    private mutating func join(_ object: NSManagedObject) {
        let values = object.currentValues
        for slot in values.indices.dropFirst(object.layout.attributeCount) {
            guard case .reference(let id) = values[slot] else { continue }
            if let far = context.registry.registered(id) { unite(object, far) } else { note(id, of: object) }
        }
        for (_, state) in object.touchedToMany { for far in state.contents { unite(object, far) } }
    }

    private mutating func unite(_ object: NSManagedObject, _ far: NSManagedObject) {
        // A relationship between two saved objects does not affect the store of a new one, and a deleted object loses
        // its relationships.
        guard object.objectID.isTemporaryID || far.objectID.isTemporaryID, !far.isDeleted else { return }
        note(far.objectID, of: far)
        let (mine, others) = (shortenedLeader(of: object), shortenedLeader(of: far))
        guard mine != others else { return }
        leaders[others] = mine
        for store in stores.removeValue(forKey: others) ?? [] { note(store, mine) }
    }

    private mutating func note(_ id: NSManagedObjectID, of object: NSManagedObject) {
        guard let store = context.localID(id).rowStore else { return }
        note(store, shortenedLeader(of: object))
    }

    private mutating func note(_ store: any RowStore, _ leader: ObjectIdentifier) {
        if stores[leader]?.contains(where: { $0 === store }) != true { stores[leader, default: []].append(store) }
    }

    private func leader(_ object: ObjectIdentifier) -> ObjectIdentifier {
        var leader = object
        while let next = leaders[leader] { leader = next }
        return leader
    }

    /// Returns the leader of the object's group, and shortens the path to it for later look-ups.
    private mutating func shortenedLeader(of object: NSManagedObject) -> ObjectIdentifier {
        var leader = ObjectIdentifier(object)
        while let next = leaders[leader] {
            if let further = leaders[next] { leaders[leader] = further }
            leader = next
        }
        return leader
    }
}
