import Foundation

// What `@Managed` properties have types of that are no `ManagedPropertyValue`: the compiler takes these only where the type
// fits nothing better.

extension NSManagedObject {
    /// The property of that name as an enumeration or option set whose raw values are the attribute's.
    ///
    /// - Precondition: The value is one of the type's. While it is unset, it reads as that of 0 or the empty text.
    public final subscript<Value: RawRepresentable>(managed name: StaticString) -> Value
    where Value.RawValue: ManagedPropertyValue {
        @inlinable get {
            let raw: Value.RawValue = self[managed: name]
            return Value(rawValue: raw) ?? UnknownRawValues.standIn(for: raw, of: self, name)
        }
        @inlinable set { self[managed: name] = newValue.rawValue }
    }

    /// The property of that name as an optional enumeration or option set; unset, and with a raw value that is none of the
    /// type's, it reads as `nil`.
    public final subscript<Value: RawRepresentable>(managed name: StaticString) -> Value?
    where Value.RawValue: ManagedPropertyValue {
        @inlinable get {
            guard let raw: Value.RawValue = self[managed: name] else { return nil }
            return Value(rawValue: raw) ?? UnknownRawValues.none(of: self, name)
        }
        @inlinable set { self[managed: name] = newValue?.rawValue }
    }

    /// The property of that name as any type that its values can be cast to; of another type, an optional reads as `nil`.
    ///
    /// - Precondition: The object's entity has a property of that name, with a value of that type unless it is optional.
    @_disfavoredOverload
    public final subscript<Value>(managed name: StaticString) -> Value {
        get {
            let value = value(forKey: "\(name)")
            if let fitting: Value = OptionalValues.fitting(value) { return fitting }
            preconditionFailure(
                "The property '\(name)' of '\(objectID)' that is not optional has no \(Value.self)"
                    + (value.map { ", but \(type(of: $0))." } ?? "."))
        }
        set { setValue(OptionalValues.unwrapped(newValue), forKey: "\(name)") }
    }
}
