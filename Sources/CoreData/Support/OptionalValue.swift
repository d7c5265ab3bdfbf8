/// `Optional`, for code that knows a type only at run time.
protocol OptionalValue {
    static var wrappedType: Any.Type { get }
    static var none: Self { get }
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: Any.Type { Wrapped.self }
    var wrappedValue: Any? { self }
}

enum OptionalValues {
    /// `value` without the optionals that it may be wrapped in: an optional in an `Any` is not `nil` itself.
    static func unwrapped(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.wrappedValue.flatMap(unwrapped)
    }

    /// The value as one of `Value`. What does not fit is `nil` in an optional; if `Value` is none, there is no value.
    static func fitting<Value>(_ value: Any?) -> Value? {
        if let value = value as? Value { return value }
        return (Value.self as? any OptionalValue.Type)?.none as? Value
    }
}
