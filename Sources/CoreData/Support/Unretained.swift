/// A reference that is not counted: from a part to the object that it is a part of, or through memory that holds addresses.
///
/// Retaining a context costs more than other objects, because there are weak references to it, and a save or a fetch looks at
/// each of its objects a dozen times: what happens for every object does without. Of all unretained references this is the one
/// form, but for `Backlink`, which is cut, `HeldObjects`, which goes through arrays, and what is handed to C.
// SAFETY: each use says who holds the object meanwhile. Of a part the owner makes it, holds it, and is held by what calls the
// part; a part that outlives its owner in a call of its own, as when code of the user's gives the context up, does not follow
// the reference after.
struct Unretained<Object: AnyObject>: Equatable {
    private let reference: Unmanaged<Object>

    @inline(__always)
    init(_ object: Object) { reference = .passUnretained(object) }

    /// The object at an address that another reference gave.
    @inline(__always)
    init(address: UnsafeRawPointer) { reference = .fromOpaque(address) }

    /// A reference that was counted: ``release()`` gives it back.
    @inline(__always)
    init(retaining object: consuming Object) { reference = .passRetained(consume object) }

    /// The object, counted while it is used.
    @inline(__always)
    var object: Object { reference.takeUnretainedValue() }

    /// Where the object is.
    @inline(__always)
    var address: UnsafeRawPointer { UnsafeRawPointer(reference.toOpaque()) }

    /// Calls `body` with the object, which something else holds meanwhile: nothing is counted.
    @inline(__always)
    func with<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try reference._withUnsafeGuaranteedRef(body)
    }

    @inline(__always)
    func retain() { _ = reference.retain() }

    @inline(__always)
    func release() { reference.release() }

    @inline(__always)
    static func == (one: Unretained, other: Unretained) -> Bool { one.address == other.address }
}
