/// An uncounted reference: from a part to its owner, or to an object whose address is in memory.
///
/// Retaining a context is slow, because weak references to it exist, and a save or fetch visits each of its objects a
/// dozen times. Work per object therefore avoids it. All unretained references use this type, except `Backlink`,
/// which is cut, `HeldObjects`, which loops over arrays, and references passed to C.
// SAFETY: each use states what holds the object. An owner makes and holds its part, and the part's caller holds the
// owner. A part that outlives its owner during a call (user code releases the context, for example) does not follow
// the reference afterwards.
struct Unretained<Object: AnyObject>: Equatable {
    private let reference: Unmanaged<Object>

    @inline(__always)
    init(_ object: Object) { reference = .passUnretained(object) }

    /// The object at an address taken from another reference.
    @inline(__always)
    init(address: UnsafeRawPointer) { reference = .fromOpaque(address) }

    /// A counted reference; ``release()`` releases it.
    @inline(__always)
    init(retaining object: consuming Object) { reference = .passRetained(consume object) }

    /// The object, retained while it is used.
    @inline(__always)
    var object: Object { reference.takeUnretainedValue() }

    /// The object's address.
    @inline(__always)
    var address: UnsafeRawPointer { UnsafeRawPointer(reference.toOpaque()) }

    /// Calls `body` with the object, uncounted. Something else must hold the object.
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
