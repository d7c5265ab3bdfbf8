import Foundation

/// Accessors for `@Managed var primitiveName: String?` of hand-written classes. The name is that of the variable.
extension NSManagedObject {
    /// The primitive value of the property that `name` contains. An unset non-optional reads as 0, `false`, an empty
    /// text or an empty collection; an optional of a type other than the value's reads as `nil`.
    ///
    /// - Precondition: The entity has a property of that name, beginning with a lower-case or upper-case letter.
    @_disfavoredOverload
    public final subscript<Value>(primitive name: StaticString) -> Value {
        get { PrimitiveAccess.value(of: self, name) ?? PrimitiveAccess.emptyValue(of: self, name) }
        set { PrimitiveAccess.set(newValue, of: self, name) }
    }

    /// The primitive value as an enumeration. A raw value that the type does not have reads as `nil`.
    public final subscript<Value: RawRepresentable>(primitive name: StaticString) -> Value? {
        get { (self[primitive: name] as Value.RawValue?).flatMap(Value.init(rawValue:)) }
        set { PrimitiveAccess.set(newValue?.rawValue, of: self, name) }
    }

    /// The primitive value as an enumeration. An unset one reads as the case of 0 or the empty text.
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
        // Code changes these sets in place: they must write through to the object.
        if Value.self == NSMutableSet.self { return object.mutableSetValue(forKey: key) as? Value }
        if Value.self == NSMutableOrderedSet.self { return object.mutableOrderedSetValue(forKey: key) as? Value }
        return OptionalValues.fitting(object.primitiveValue(forKey: key))
    }

    static func set<Value>(_ value: Value, of object: NSManagedObject, _ name: StaticString) {
        object.setPrimitiveValue(OptionalValues.unwrapped(value), forKey: key(name, of: object))
    }

    /// Returns `name` for `primitiveName`. A property of the model with the whole name has precedence.
    private static func key(_ name: StaticString, of object: NSManagedObject) -> String {
        let whole = "\(name)"
        let capitalized = whole.dropFirst("primitive".count)
        let key = capitalized.prefix(1).lowercased() + capitalized.dropFirst()
        return [whole, key].first { object.layout.place(of: $0) != nil } ?? String(capitalized)
    }

    /// The value that an unset property of that type reads as.
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
            "The primitive value '\(name)' of '\(object.objectID)' is nil, but its type \(Value.self) is not optional.")
    }
}
