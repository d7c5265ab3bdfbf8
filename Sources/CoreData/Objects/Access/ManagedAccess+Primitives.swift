import Foundation

/// `@Managed var primitiveName: String?` of hand-written classes. The name is that of the variable.
extension NSManagedObject {
    /// The primitive value of the property that the name holds. An optional of another type reads as `nil`; what is not
    /// optional reads as 0, `false`, an empty text or collection while the value is unset.
    ///
    /// - Precondition: The object's entity has a property of that name, with a small first letter or a capital.
    @_disfavoredOverload
    public final subscript<Value>(primitive name: StaticString) -> Value {
        get { PrimitiveAccess.value(of: self, name) ?? PrimitiveAccess.emptyValue(of: self, name) }
        set { PrimitiveAccess.set(newValue, of: self, name) }
    }

    /// The primitive value as one of an enumeration; a raw value that is none of the type's reads as `nil`.
    public final subscript<Value: RawRepresentable>(primitive name: StaticString) -> Value? {
        get { (self[primitive: name] as Value.RawValue?).flatMap(Value.init(rawValue:)) }
        set { PrimitiveAccess.set(newValue?.rawValue, of: self, name) }
    }

    /// The primitive value as one of an enumeration; one that is unset reads as that of 0 or the empty text.
    public final subscript<Value: RawRepresentable>(primitive name: StaticString) -> Value {
        get {
            let raw: Value.RawValue = self[primitive: name]
            return Value(rawValue: raw) ?? UnknownRawValues.standIn(for: raw, of: self, name)
        }
        set { PrimitiveAccess.set(newValue.rawValue, of: self, name) }
    }
}

private enum PrimitiveAccess {
    static func value<Value>(of object: NSManagedObject, _ name: StaticString) -> Value? {
        let key = key(name, of: object)
        // The sets that a program changes in place.
        if Value.self == NSMutableSet.self { return object.mutableSetValue(forKey: key) as? Value }
        if Value.self == NSMutableOrderedSet.self { return object.mutableOrderedSetValue(forKey: key) as? Value }
        return OptionalValues.fitting(object.primitiveValue(forKey: key))
    }

    static func set<Value>(_ value: Value, of object: NSManagedObject, _ name: StaticString) {
        object.setPrimitiveValue(OptionalValues.unwrapped(value), forKey: key(name, of: object))
    }

    /// `name` for `primitiveName`. A property of the model that has the whole name goes first.
    private static func key(_ name: StaticString, of object: NSManagedObject) -> String {
        let whole = "\(name)"
        let capitalized = whole.dropFirst("primitive".count)
        let key = capitalized.prefix(1).lowercased() + capitalized.dropFirst()
        return [whole, key].first { object.layout.place(of: $0) != nil } ?? String(capitalized)
    }

    /// What an unset value of that type reads as.
    static func emptyValue<Value>(of object: NSManagedObject, _ name: StaticString) -> Value {
        let empty: Any? =
            switch Value.self {
            case let type as any SlotRepresentable.Type: type.emptyValue
            case let type as any RangeReplaceableCollection.Type: type.init()
            case let type as any SetAlgebra.Type: type.init()
            default: nil
            }
        if let empty = empty as? Value { return empty }
        preconditionFailure(
            "The primitive value '\(name)' of '\(object.objectID)' that is not optional has no \(Value.self).")
    }
}
