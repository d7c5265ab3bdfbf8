import Foundation

// Generic members are inlinable, so that they are specialised for the types that a program uses. An unspecialised
// access would look up the type's metadata first, which takes longer than the access.

extension Optional: ManagedPropertyValue where Wrapped: ManagedPropertyValue {
    /// The value of the object's property; `nil` if it is unset or of another type.
    @inlinable
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Wrapped? {
        Wrapped.managedValueIfSet(of: object, at: place)
    }

    /// Sets the object's property.
    ///
    /// - Precondition: The property's type accepts the value.
    @inlinable
    public static func setManagedValue(_ value: Wrapped?, of object: NSManagedObject, at place: ManagedPlace) {
        if let value { return Wrapped.setManagedValue(value, of: object, at: place) }
        place.unset(in: object)
    }
}

extension ManagedPlace {
    /// Removes the value of the object's property.
    @usableFromInline
    func unset(in object: NSManagedObject) {
        switch place {
        case .attribute(let slot): object.setAttribute(.null, slot: slot)
        case .toOne(let slot): InverseUpkeep.set(nil, of: object, slot: slot)
        case .toMany(let number): InverseUpkeep.replace([], of: object, number: number)
        case .fetched: preconditionFailure("A fetched property cannot be set.")
        }
    }

    /// The object's to-many relationship with its members read; `nil` if the property is of another kind.
    @usableFromInline
    func toManyState(of object: NSManagedObject) -> ToManyState? {
        guard case .toMany(let number) = place else { return nil }
        object.noteRead(place)
        return object.loadedToManyState(number)
    }

    /// The members of the object's to-many relationship in its order; `nil` if the property is of another kind.
    @usableFromInline
    func memberList(of object: NSManagedObject) -> [NSManagedObject]? {
        guard case .toMany(let number) = place else { return nil }
        object.noteRead(place)
        return object.toManyTargets(number)
    }
}

/// Managed objects, collections of them, `NSNumber`s and other objects.
extension NSObject: ManagedPropertyValue {
    /// The value of the object's property.
    ///
    /// - Precondition: The property has a value of the type; otherwise the program stops.
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Self {
        guard let value = read(object, place, as: Self.self) else {
            preconditionFailure("A property of '\(object.objectID)' is nil, but its type \(Self.self) is not optional.")
        }
        return value
    }

    /// The value of the object's property; `nil` if it is unset.
    public static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> Self? {
        read(object, place, as: Self?.self)
    }

    private static func read(
        _ object: NSManagedObject, _ place: ManagedPlace, as type: @autoclosure () -> Any.Type
    ) -> Self? {
        object.noteRead(place.place, as: type())
        switch place.place {
        case .attribute(let slot):
            object.fireIfNeeded(for: place.place)
            return KeyValueAccess.attributeValue(of: object, slot: slot) as? Self
        case .toOne(let slot): return object.toOneTarget(slot) as? Self
        case .toMany(let number): return KeyValueAccess.collection(of: object, number: number) as? Self
        case .fetched(let number): return NSArray(array: object.fetchedObjects(number)) as? Self
        }
    }

    /// Sets the object's property.
    ///
    /// - Precondition: The property's type accepts the value.
    public static func setManagedValue(_ value: NSObject, of object: NSManagedObject, at place: ManagedPlace) {
        switch place.place {
        case .toOne(let slot): InverseUpkeep.set(value as? NSManagedObject, of: object, slot: slot)
        case .attribute(let slot): object.setValue(value, forKey: object.layout.slots[slot].name)
        case .toMany(let number): object.setValue(value, forKey: object.layout.toManyRelationships[number].name)
        case .fetched: preconditionFailure("A fetched property cannot be set.")
        }
    }
}

/// Collections: the members of a to-many relationship, the results of a fetched property, and values of transformers
/// and composites.
extension Set: ManagedPropertyValue {
    /// The value of the object's property; empty if it is unset or of another type.
    @inlinable
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Set<Element> {
        managedValueIfSet(of: object, at: place) ?? []
    }

    /// The value of the object's property; `nil` if it is unset.
    @inlinable
    public static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> Set<Element>? {
        place.toManyState(of: object)?.typedMembers() ?? AnyManagedValue.value(of: object, at: place)
    }

    /// Sets the object's property.
    ///
    /// - Precondition: The property's type accepts the value.
    public static func setManagedValue(_ value: Set<Element>, of object: NSManagedObject, at place: ManagedPlace) {
        AnyManagedValue.set(value, of: object, at: place)
    }
}

extension Array: ManagedPropertyValue {
    /// The value of the object's property; empty if it is unset or of another type.
    @inlinable
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> [Element] {
        managedValueIfSet(of: object, at: place) ?? []
    }

    /// The value of the object's property; `nil` if it is unset.
    @inlinable
    public static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> [Element]? {
        guard let members = place.memberList(of: object) else { return AnyManagedValue.value(of: object, at: place) }
        return members.compactMap { $0 as? Element }
    }

    /// Sets the object's property.
    ///
    /// - Precondition: The property's type accepts the value.
    public static func setManagedValue(_ value: [Element], of object: NSManagedObject, at place: ManagedPlace) {
        AnyManagedValue.set(value, of: object, at: place)
    }
}

extension Dictionary: ManagedPropertyValue {
    /// The value of the object's property; empty if it is unset or of another type.
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> [Key: Value] {
        managedValueIfSet(of: object, at: place) ?? [:]
    }

    /// The value of the object's property; `nil` if it is unset.
    public static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> [Key: Value]? {
        AnyManagedValue.value(of: object, at: place)
    }

    /// Sets the object's property.
    ///
    /// - Precondition: The property's type accepts the value.
    public static func setManagedValue(_ value: [Key: Value], of object: NSManagedObject, at place: ManagedPlace) {
        AnyManagedValue.set(value, of: object, at: place)
    }
}

/// Properties of any kind by their place, with the values of `value(forKey:)`.
@usableFromInline
enum AnyManagedValue {
    @usableFromInline
    static func value<Value>(of object: NSManagedObject, at place: ManagedPlace) -> Value? {
        object.value(forKey: object.layout.name(of: place.place)) as? Value
    }

    static func set(_ value: Any, of object: NSManagedObject, at place: ManagedPlace) {
        object.setValue(value, forKey: object.layout.name(of: place.place))
    }
}
