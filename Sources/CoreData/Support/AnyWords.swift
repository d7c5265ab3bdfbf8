/// A value of any type as it lies in memory: an object's reference comes first, and last the type as which it was put there,
/// which may be a class above the object's own, or an optional.
///
/// The one place that counts on how Swift lays out a value of any type. A predicate is called with one for each object:
/// Swift's own ways to the object in it, a cast or an opened type, copy the value and take a third longer in all than the
/// whole evaluation (23 instead of 12 ns for the object alone).
// SAFETY: a value of any type is three words and its type, last; an object's reference is the first (`AnyWordsTests`, for
// the compiler in use). The words are compared, and followed only where the type is that of managed objects.
struct AnyWords {
    let reference: UInt
    let type: UInt

    /// Copies nothing: to take a value of any type apart retains and releases what is in it.
    @inline(__always)
    init(_ value: borrowing Any?) {
        (reference, type) = withUnsafeBytes(of: value) { bytes in
            (
                bytes.load(as: UInt.self),
                bytes.load(fromByteOffset: MemoryLayout<Any>.size - MemoryLayout<UInt>.size, as: UInt.self)
            )
        }
    }

    /// The word of a type.
    // SAFETY: a type is one word, which is compared.
    static func word(of type: Any.Type) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) }
}

extension Unmanaged {
    /// The object that `value` is, where it is one of exactly that class; `nil` says nothing. Swift opens a value of any type
    /// for it.
    ///
    /// The runtime's cast takes 100 ns, and sets of objects compare those whose hashes fall together.
    // SAFETY: what is of a class when the program runs is a reference to an object of that class, whatever class it is
    // declared with; the caller holds `value`.
    @inline(__always)
    static func exactly<Value>(_ type: Instance.Type, _ value: Value) -> Unmanaged? {
        guard Swift.type(of: value) as Any.Type == type else { return nil }
        return withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: Unmanaged.self) }
    }
}
