import Foundation

extension Optional: ManagedPropertyValue where Wrapped: ManagedPropertyValue {
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Wrapped? {
        Wrapped.managedValueIfSet(of: object, at: place)
    }

    public static func setManagedValue(_ value: Wrapped?, of object: NSManagedObject, at place: ManagedPlace) {
        if let value { return Wrapped.setManagedValue(value, of: object, at: place) }
        switch place.place {
        case .attribute(let slot): object.setAttribute(.null, slot: slot)
        case .toOne(let slot): InverseUpkeep.set(nil, of: object, slot: slot)
        case .toMany(let number): InverseUpkeep.replace([], of: object, number: number)
        case .fetched: preconditionFailure("A fetched property cannot be set.")
        }
    }
}

/// Managed objects, collections of them, `NSNumber`s and other objects.
extension NSObject: ManagedPropertyValue {
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Self {
        guard let value = managedValueIfSet(of: object, at: place) else {
            preconditionFailure("A property of '\(object.objectID)' that is not optional has no \(Self.self).")
        }
        return value
    }

    public static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> Self? {
        object.noteRead(place.place)
        switch place.place {
        case .attribute(let slot):
            object.fireIfNeeded()
            return KeyValueAccess.attributeValue(of: object, slot: slot) as? Self
        case .toOne(let slot): return object.toOneTarget(slot) as? Self
        case .toMany(let number): return KeyValueAccess.collection(of: object, number: number) as? Self
        case .fetched(let number): return NSArray(array: object.fetchedObjects(number)) as? Self
        }
    }

    public static func setManagedValue(_ value: NSObject, of object: NSManagedObject, at place: ManagedPlace) {
        switch place.place {
        case .toOne(let slot): InverseUpkeep.set(value as? NSManagedObject, of: object, slot: slot)
        case .attribute(let slot): object.setValue(value, forKey: object.layout.slots[slot].name)
        case .toMany(let number): object.setValue(value, forKey: object.layout.toManyRelationships[number].name)
        case .fetched: preconditionFailure("A fetched property cannot be set.")
        }
    }
}

extension Set: ManagedPropertyValue where Element: NSManagedObject {
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Set<Element> {
        guard case .toMany(let number) = place.place else { return [] }
        object.noteRead(place.place)
        return Set(object.toManyTargets(number).compactMap { $0 as? Element })
    }

    public static func setManagedValue(_ value: Set<Element>, of object: NSManagedObject, at place: ManagedPlace) {
        guard case .toMany(let number) = place.place else {
            preconditionFailure("A set can only be the value of a to-many relationship.")
        }
        InverseUpkeep.replace(Array(value), of: object, number: number)
    }
}

/// The results of fetched properties, and the members of ordered relationships.
extension Array: ManagedPropertyValue where Element: NSManagedObject {
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> [Element] {
        object.noteRead(place.place)
        switch place.place {
        case .fetched(let number): return object.fetchedObjects(number).compactMap { $0 as? Element }
        case .toMany(let number): return object.toManyTargets(number).compactMap { $0 as? Element }
        case .attribute, .toOne: return []
        }
    }

    public static func setManagedValue(_ value: [Element], of object: NSManagedObject, at place: ManagedPlace) {
        guard case .toMany(let number) = place.place else {
            preconditionFailure("An array can only be set as the value of a to-many relationship.")
        }
        InverseUpkeep.replace(value, of: object, number: number)
    }
}
