/// The first sixteen bytes of a value as a number that is ordered as the value is: where two differ, so do the values, in
/// the same order. Where they are equal, nothing is known.
struct ValueBeginning: Comparable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    /// The beginnings of the first value of each row; all equal where they would not tell the order.
    ///
    /// - Parameter isKnown: whether the values are compared as they are, and not by code or a language's rules.
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

    /// `nil` for a value of a kind whose order no number tells. Nothing is before 0, which stands for `null`.
    // SAFETY: the bytes are looked at during the call, while `value` holds them.
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
    /// A number as bits whose order as an unsigned number is its own; `nil` for other values, and for what is no number.
    @inline(__always)
    var orderedBits: UInt64? {
        switch self {
        case .integer(let number): return UInt64(bitPattern: number) ^ 1 << 63
        case .real(let number):
            guard !number.isNaN else { return nil }
            // Negative numbers are ordered the other way round by their bits; -0 is 0.
            let bits = (number + 0).bitPattern
            return bits >> 63 == 1 ? ~bits : bits | 1 << 63
        default: return nil
        }
    }
}
