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
    /// `value` without its optional wrappers: an optional inside an `Any` is not itself `nil`.
    static func unwrapped(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.wrappedValue.flatMap(unwrapped)
    }

    /// The value as a `Value`. If it does not fit, the result is `nil` inside an optional `Value`, and no value
    /// otherwise.
    static func fitting<Value>(_ value: Any?) -> Value? {
        if let value = value as? Value { return value }
        return (Value.self as? any OptionalValue.Type)?.none as? Value
    }
}
