// A reference in a value that Swift has opened: of a generic type, which turns out to be a class when the program runs. The
// runtime's casts take 30 to 100 ns, more than all else that is done with such a value where these two are called.

/// The class as which an object was put into a value of any type: its own or one above.
struct DeclaredClass<Object: AnyObject> {
    private let type: ObjectIdentifier

    /// Finds nothing where `value` is declared as anything else than a class of objects, as an optional or a box.
    init(of value: Any?) {
        func declared<Value>(_ value: Value) -> Any.Type? { Value.self is Object.Type ? Value.self : nil }
        // There are no values of the type `Never`.
        type = ObjectIdentifier(value.flatMap { declared($0) } ?? Never.self)
    }

    /// The object in `value`, where it is declared as that class; `nil` says nothing of the object's own.
    // SAFETY: a value whose type is a class is a reference to an object of it; the caller holds `value`. The standard
    // library's cast checks that the sizes are the same.
    @inline(__always)
    func reference<Value>(in value: Value) -> Unretained<Object>? {
        ObjectIdentifier(Value.self) == type ? unsafeBitCast(value, to: Unretained<Object>.self) : nil
    }
}

extension Unretained {
    /// The object that `value` is, where it is one of exactly that class; `nil` says nothing. Swift opens a value of any type
    /// for it.
    ///
    /// Sets of objects compare those whose hashes fall together.
    // SAFETY: what is of a class when the program runs is a reference to an object of that class, whatever class it is
    // declared with; the caller holds `value`.
    @inline(__always)
    static func exactly<Value>(_ type: Object.Type, _ value: Value) -> Unretained? {
        guard Swift.type(of: value) as Any.Type == type else { return nil }
        return withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: Unretained.self) }
    }
}
