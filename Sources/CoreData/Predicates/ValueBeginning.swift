/// The first sixteen bytes of a value as a number. If two numbers differ, they have the order of the values; if they
/// are equal, the order is unknown.
struct ValueBeginning: Comparable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    /// The beginnings of the first value of each row; all equal if they cannot show the order.
    ///
    /// - Parameter isKnown: True if the values are compared directly, not by a comparator or locale rules.
    static func list(of values: SortValues, isAscending: Bool, _ isKnown: Bool) -> [ValueBeginning] {
        let none = ValueBeginning()
        guard isKnown else { return Array(repeating: none, count: values.count) }
        var made: [ValueBeginning] = []
        made.reserveCapacity(values.count)
        var kind = Kind.null
        for row in 0..<values.count {
            guard let (beginning, itsKind) = of(values.all[row * values.width]),
                itsKind == .null || kind == .null || itsKind == kind
            else { return Array(repeating: none, count: values.count) }
            if itsKind != .null { kind = itsKind }
            made.append(isAscending ? beginning : ValueBeginning(high: ~beginning.high, low: ~beginning.low))
        }
        return made
    }

    private enum Kind { case null, integer, real, text, bytes }

    /// `nil` for a kind of value that numbers cannot order. 0 is `null` and sorts first.
    // SAFETY: the bytes are read during the call, while `value` holds them.
    private static func of(_ value: SlotValue) -> (ValueBeginning, Kind)? {
        switch value {
        case .null: return (ValueBeginning(), .null)
        case .integer: return value.orderedBits.map { (ValueBeginning(high: $0), .integer) }
        case .real: return value.orderedBits.map { (ValueBeginning(high: $0), .real) }
        case .text(let text): return (TextBytes.with(text) { of(UnsafeRawBufferPointer($0)) }, .text)
        case .data(let data): return (data.withUnsafeBytes(of), .bytes)
        case .uuid, .decimal, .object, .reference: return nil
        }
    }

    // SAFETY: the value is two words without padding, and at most 16 bytes are copied into it.
    private static func of(_ bytes: UnsafeRawBufferPointer) -> ValueBeginning {
        var result = ValueBeginning()
        withUnsafeMutableBytes(of: &result) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(16))) }
        return ValueBeginning(high: UInt64(bigEndian: result.high), low: UInt64(bigEndian: result.low))
    }

    @inline(__always)
    static func < (left: ValueBeginning, right: ValueBeginning) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

extension SlotValue {
    /// A number as an unsigned integer with the same order; `nil` for NaN and other values.
    @inline(__always)
    var orderedBits: UInt64? {
        switch self {
        case .integer(let number): return UInt64(bitPattern: number) ^ 1 << 63
        case .real(let number):
            guard !number.isNaN else { return nil }
            // The bits of negative numbers have the reverse order; -0 becomes 0.
            let bits = (number + 0).bitPattern
            return bits >> 63 == 1 ? ~bits : bits | 1 << 63
        default: return nil
        }
    }
}
