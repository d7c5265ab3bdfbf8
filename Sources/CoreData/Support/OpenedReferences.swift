// References in generic values that turn out to be of a class at run time. The runtime's casts take 30 to 100 ns,
// more than all other work on such a value in the two callers.

/// The class with which an object was put into an `Any`: its own or a superclass.
struct DeclaredClass<Object: AnyObject> {
    private let type: ObjectIdentifier

    /// Matches nothing if `value` is declared as anything other than a class of objects, such as an optional or a
    /// box.
    init(of value: Any?) {
        func declared<Value>(_ value: Value) -> Any.Type? { Value.self is Object.Type ? Value.self : nil }
        // No value has the type `Never`.
        type = ObjectIdentifier(value.flatMap { declared($0) } ?? Never.self)
    }

    /// The object in `value` if it is declared as that class. `nil` does not exclude that the object itself is of the
    /// class.
    // SAFETY: a value whose type is a class is a reference to an object of it; the caller holds `value`. The standard
    // library's cast checks that the sizes are the same.
    @inline(__always)
    func reference<Value>(in value: Value) -> Unretained<Object>? {
        ObjectIdentifier(Value.self) == type ? unsafeBitCast(value, to: Unretained<Object>.self) : nil
    }
}

extension Unretained {
    /// The object in `value` if its class is exactly `type`; `nil` proves nothing. Swift opens an `Any` for this
    /// call.
    ///
    /// Sets of objects compare members whose hashes collide.
    // SAFETY: a value of a class at run time is a reference to an object of that class, whatever its declared type; the
    // caller holds `value`.
    @inline(__always)
    static func exactly<Value>(_ type: Object.Type, _ value: Value) -> Unretained? {
        guard Swift.type(of: value) as Any.Type == type else { return nil }
        return withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: Unretained.self) }
    }
}
