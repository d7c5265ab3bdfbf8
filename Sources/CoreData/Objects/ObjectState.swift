/// What an object holds, in one word: usually its row, or the batch with which the row is to be read. A list has as
/// many of these as rows; what is changed or has neighbours has room for more, see ``ObjectExtras``.
// SAFETY: the bits are an address of an object that is aligned to 8 bytes, of which the word owns one reference, and
// two bits that say which class it is of. Who replaces the word calls `release()` once.
struct ObjectState {
    enum Kind: UInt {
        /// The row, or nothing.
        case row
        /// What the row is read with.
        case batch
        /// The row of a new object of the entity, which the layout keeps.
        case new
        case extras
    }

    let bits: UInt

    private static var kindMask: UInt { 3 }

    /// No row.
    static var nothing: ObjectState { ObjectState(bits: Kind.row.rawValue) }
    static var new: ObjectState { ObjectState(bits: Kind.new.rawValue) }

    @inline(__always)
    init(bits: UInt) { self.bits = bits }

    /// A share in what the object holds, to be given back with ``release()``.
    @inline(__always)
    private init(_ object: consuming AnyObject, _ kind: Kind) {
        bits = UInt(bitPattern: Unretained(retaining: consume object).address) | kind.rawValue
    }

    @inline(__always)
    init(_ row: consuming RowSnapshot) { self.init(consume row, .row) }

    init(_ batch: FaultBatch) { self.init(batch, .batch) }

    init(_ extras: consuming ObjectExtras) { self.init(consume extras, .extras) }

    @inline(__always)
    var kind: Kind {
        // Two bits have no other values.
        Kind(rawValue: bits & Self.kindMask).unsafelyUnwrapped
    }

    @inline(__always)
    private var address: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: bits & ~Self.kindMask) }

    /// The row, where the object has no more than that.
    @inline(__always)
    var row: Unretained<RowSnapshot>? {
        bits & Self.kindMask == 0 ? UnsafeRawPointer(bitPattern: bits).map { Unretained(address: $0) } : nil
    }

    @inline(__always)
    var batch: Unretained<FaultBatch>? {
        bits & Self.kindMask == Kind.batch.rawValue ? address.map { Unretained(address: $0) } : nil
    }

    @inline(__always)
    var extras: Unretained<ObjectExtras>? {
        bits & Self.kindMask == Kind.extras.rawValue ? address.map { Unretained(address: $0) } : nil
    }

    @inline(__always)
    func release() {
        if let address { Unretained<AnyObject>(address: address).release() }
    }
}
