/// The contents of an object in one word: usually its row, or the batch that will read the row. A list has one such
/// word per row; changed objects and those with touched relationships use ``ObjectExtras``.
// SAFETY: the bits are the address of an object aligned to 8 bytes, of which the word owns one reference, and two bits
// for its class. Code that replaces the word calls `release()` once.
struct ObjectState {
    enum Kind: UInt {
        /// The row, or nothing.
        case row
        /// The batch that will read the row.
        case batch
        /// The initial row of a new object, which the layout stores.
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

    /// Takes a share in the contents, to be released with ``release()``.
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
        // `Kind` has a case for each of the four values of two bits.
        Kind(rawValue: bits & Self.kindMask).unsafelyUnwrapped
    }

    @inline(__always)
    private var address: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: bits & ~Self.kindMask) }

    /// The row, if the object has no other contents.
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
