import Foundation

/// The touched objects of a context that the list was not updated for yet.
struct TouchedObjects {
    struct Touch {
        let object: NSManagedObject
        /// The properties that changed; `nil` if unknown.
        var keys: Set<String>?
        /// True if the object was last reported as deleted, or is no longer known to exist.
        var isGone = false
    }

    /// The old values of touched objects, as far as they are known.
    private var oldValues: [NSManagedObjectID: [String: any Sendable]] = [:]
    private(set) var touches: [Touch] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// Rows that changed in the store and for which the context has no object.
    private(set) var changedIDs: Set<NSManagedObjectID> = []
    private(set) var deletedIDs: Set<NSManagedObjectID> = []

    var isEmpty: Bool { touches.isEmpty && changedIDs.isEmpty && deletedIDs.isEmpty }
    var count: Int { touches.count + changedIDs.count + deletedIDs.count }

    /// Notes that `object` was touched.
    ///
    /// - Parameters:
    ///   - keys: the properties that changed; `nil` if unknown.
    ///   - isGone: true if it counts as deleted. The last call decides.
    mutating func note(_ object: NSManagedObject, keys: Set<String>? = nil, isGone: Bool = false) {
        if let place = place(of: object) {
            if let keys, let known = touches[place].keys {
                touches[place].keys = known.union(keys)
            } else {
                touches[place].keys = nil
            }
            touches[place].isGone = isGone
            return
        }
        places[ObjectIdentifier(object)] = touches.count
        touches.append(Touch(object: object, keys: keys, isGone: isGone))
    }

    /// The index of an object among the touched ones. The table is built on the first look-up: the first objects are
    /// all different, and usually there are no others.
    private mutating func place(of object: NSManagedObject) -> Int? {
        if places.count < touches.count {
            places.reserveCapacity(touches.count)
            for (place, touch) in touches.enumerated() { places[ObjectIdentifier(touch.object)] = place }
        }
        return places[ObjectIdentifier(object)]
    }

    /// Notes that objects, each named once, were touched.
    fileprivate mutating func note(
        all objects: [NSManagedObject], isGone: Bool = false, keys: (NSManagedObject) -> Set<String>?
    ) {
        guard touches.isEmpty else {
            for object in objects { note(object, keys: keys(object), isGone: isGone) }
            return
        }
        touches = objects.map { Touch(object: $0, keys: keys($0), isGone: isGone) }
    }

    mutating func noteChanged(_ ids: some Sequence<NSManagedObjectID>) { changedIDs.formUnion(ids) }

    mutating func noteDeleted(_ ids: some Sequence<NSManagedObjectID>) { deletedIDs.formUnion(ids) }

    /// The known changed properties of touched objects, and their old values.
    var changedValues: [NSManagedObjectID: (keys: Set<String>?, oldValues: [String: any Sendable])] {
        var known: [NSManagedObjectID: (keys: Set<String>?, oldValues: [String: any Sendable])] = [:]
        for touch in touches {
            let id = touch.object.objectID
            let old = oldValues[id] ?? [:]
            known[id] = (touch.keys ?? (old.isEmpty ? nil : Set(old.keys)), old)
        }
        return known
    }

    fileprivate mutating func keepOldValues(of object: NSManagedObject) {
        let old = object.changedValuesForCurrentEvent().compactMapValues(SendableValues.form)
        // A value that was kept in an earlier event stays, because it is the older one.
        if !old.isEmpty { oldValues[object.objectID, default: [:]].merge(old) { earlier, _ in earlier } }
    }

    /// The objects that left the context: those whose insertion was undone.
    var leftObjects: [NSManagedObjectID: NSManagedObject] {
        var left: [NSManagedObjectID: NSManagedObject] = [:]
        for touch in touches where touch.isGone && touch.object.managedObjectContext == nil {
            left[touch.object.objectID] = touch.object
        }
        return left
    }
}

extension TouchedObjects {
    /// Notes the objects of some entities in an objects-did-change notification.
    ///
    /// - Parameter keepsOldValues: true to record the old values for ``changedValues``.
    mutating func note(
        _ userInfo: [AnyHashable: Any], keepsOldValues: Bool = false, where isOfInterest: (NSEntityDescription) -> Bool
    ) {
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
        var changed = ChangedKeys()
        if keepsOldValues {
            for object in objects(NSUpdatedObjectsKey) + objects(NSRefreshedObjectsKey) { keepOldValues(of: object) }
        }
        note(all: objects(NSInsertedObjectsKey)) { _ in nil }
        note(all: objects(NSUpdatedObjectsKey)) { changed.sinceEvent(of: $0) }
        note(all: objects(NSRefreshedObjectsKey)) { _ in nil }
        note(all: objects(NSDeletedObjectsKey), isGone: true) { _ in nil }
        note(all: objects(NSInvalidatedObjectsKey), isGone: true) { _ in nil }
    }
}

/// The names of the properties that an event changed in many objects: usually the same ones, so the last set is reused.
private struct ChangedKeys {
    private var last: (layout: EntityLayout, numbers: [Int], names: Set<String>)?
    private var numbers: [Int] = []

    mutating func sinceEvent(of object: NSManagedObject) -> Set<String> {
        numbers.removeAll(keepingCapacity: true)
        ChangedValues.forEachSinceEvent(of: object) { numbers.append($0) }
        if let last, last.layout === object.layout, last.numbers == numbers { return last.names }
        let names = ChangedValues.names(of: numbers, in: object.layout)
        last = (object.layout, numbers, names)
        return names
    }
}
