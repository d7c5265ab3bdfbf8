import Foundation

/// The objects of which a context said that something happened to them, until the list is brought up to date.
struct TouchedObjects {
    struct Touch {
        let object: NSManagedObject
        /// The properties that changed; `nil` if that is not known.
        var keys: Set<String>?
        /// The context cannot vouch for the object any more: it counts as deleted.
        var isInvalidated = false
    }

    private(set) var touches: [Touch] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// Rows that changed in the store and for which the context holds no object.
    private(set) var changedIDs: Set<NSManagedObjectID> = []
    private(set) var deletedIDs: Set<NSManagedObjectID> = []

    var isEmpty: Bool { touches.isEmpty && changedIDs.isEmpty && deletedIDs.isEmpty }
    var count: Int { touches.count + changedIDs.count + deletedIDs.count }

    /// Notes that something happened to `object`.
    ///
    /// - Parameter keys: the properties that changed; `nil` if that is not known.
    mutating func note(_ object: NSManagedObject, keys: Set<String>? = nil, isInvalidated: Bool = false) {
        if let place = places[ObjectIdentifier(object)] {
            if let keys, let known = touches[place].keys {
                touches[place].keys = known.union(keys)
            } else {
                touches[place].keys = nil
            }
            if isInvalidated { touches[place].isInvalidated = true }
            return
        }
        places[ObjectIdentifier(object)] = touches.count
        touches.append(Touch(object: object, keys: keys, isInvalidated: isInvalidated))
    }

    mutating func noteChanged(_ ids: some Sequence<NSManagedObjectID>) { changedIDs.formUnion(ids) }

    mutating func noteDeleted(_ ids: some Sequence<NSManagedObjectID>) { deletedIDs.formUnion(ids) }

}

extension TouchedObjects {
    /// Notes what an objects-did-change notification tells of objects of some entities.
    mutating func note(_ userInfo: [AnyHashable: Any], where isOfInterest: (NSEntityDescription) -> Bool) {
        var known: [ObjectIdentifier: Bool] = [:]
        func objects(_ key: String) -> [NSManagedObject] {
            (userInfo[key] as? Set<NSManagedObject> ?? []).filter { object in
                let entity = ObjectIdentifier(object.entity)
                if let answer = known[entity] { return answer }
                let answer = isOfInterest(object.entity)
                known[entity] = answer
                return answer
            }
        }
        for object in objects(NSInsertedObjectsKey) { note(object) }
        for object in objects(NSUpdatedObjectsKey) { note(object, keys: ChangedValues.keysSinceEvent(of: object)) }
        for object in objects(NSRefreshedObjectsKey) { note(object) }
        for object in objects(NSDeletedObjectsKey) { note(object) }
        for object in objects(NSInvalidatedObjectsKey) { note(object, isInvalidated: true) }
    }
}
