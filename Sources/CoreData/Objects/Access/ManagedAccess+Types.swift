import Foundation

// `@Managed` properties whose types do not conform to `ManagedPropertyValue`. The compiler chooses these overloads only
// if none of the others fits.

extension NSManagedObject {
    /// The property of that name as an enumeration or option set whose raw values the attribute stores.
    ///
    /// - Precondition: The type has a case for the raw value; for an unset value, one for 0 or the empty text.
    public final subscript<Value: RawRepresentable>(managed name: StaticString) -> Value
    where Value.RawValue: ManagedPropertyValue {
        @inlinable get {
            let raw: Value.RawValue = self[managed: name]
            return Value(rawValue: raw) ?? UnknownRawValues.standIn(for: raw, of: self, name)
        }
        @inlinable set { self[managed: name] = newValue.rawValue }
    }

    /// The property of that name as an optional enumeration or option set; `nil` if it is unset, or if the type does
    /// not have its raw value.
    public final subscript<Value: RawRepresentable>(managed name: StaticString) -> Value?
    where Value.RawValue: ManagedPropertyValue {
        @inlinable get {
            guard let raw: Value.RawValue = self[managed: name] else { return nil }
            return Value(rawValue: raw) ?? UnknownRawValues.none(of: self, name)
        }
        @inlinable set { self[managed: name] = newValue?.rawValue }
    }

    /// The property of that name as any type to which its value can be cast; an optional of another type is `nil`.
    ///
    /// - Precondition: The entity has a property of that name; a non-optional one has a value of the type.
    @_disfavoredOverload
    public final subscript<Value>(managed name: StaticString) -> Value {
        get {
            let value = value(forKey: "\(name)")
            if let fitting: Value = OptionalValues.fitting(value) { return fitting }
            preconditionFailure(
                "The property '\(name)' of '\(objectID)' is nil, but its type \(Value.self) is not optional"
                    + (value.map { ", but \(type(of: $0))." } ?? "."))
        }
        set { setValue(OptionalValues.unwrapped(newValue), forKey: "\(name)") }
    }
}
