/// Packs the values of each row under several sort keys into one number. If two numbers differ, they have the order
/// of the values.
///
/// Most sorted data has few different values, or texts with common prefixes. A section's name, a number of wins and a
/// date use only the bits that distinguish them.
struct SortWords {
    private(set) var all: [UInt64]
    /// Number of keys that the words represent exactly.
    private(set) var toldCount = 0
    private var room = UInt64.bitWidth

    init(count: Int) { all = Array(repeating: 0, count: count) }

    /// Appends the values of the next key.
    ///
    /// - Parameter values: one per row, compared directly.
    /// - Returns: True if the key is represented exactly, so that the next key may follow.
    mutating func append(_ values: [SlotValue], isAscending: Bool) -> Bool {
        guard let ordinals = SortOrdinals(values) else { return false }
        let width = min(ordinals.width, room)
        let mask = width == 64 ? UInt64.max : (1 << UInt64(width)) - 1
        for row in all.indices {
            let ordinal = ordinals.of(values[row]) >> UInt64(ordinals.width - width)
            all[row] = (width == 64 ? 0 : all[row] << UInt64(width)) | (isAscending ? ordinal : mask - ordinal)
        }
        room -= width
        guard ordinals.isExact, width == ordinals.width else { return false }
        toldCount += 1
        return true
    }
}

/// Maps the values of one key to short numbers with the same order. All values are of one kind, or `null`.
private struct SortOrdinals {
    /// The bit width of the greatest number.
    private(set) var width = 0
    /// True if different values have different numbers.
    private(set) var isExact = true
    private var kind = Kind.null
    /// The smallest number, and the offset that reserves 0 for `null`.
    private var least: UInt64 = 0
    private var offset: UInt64 = 0
    /// The length in bytes of the texts' common prefix.
    private var commonCount = 0

    private enum Kind { case null, number, bytes }

    /// `nil` if the values are of several kinds, or of a kind that numbers cannot order.
    init?(_ values: [SlotValue]) {
        var hasNull = false
        var numbers: (least: UInt64, greatest: UInt64)?
        var bytes = ByteSurvey()
        var tag: UInt8 = 0
        for value in values {
            if value.isNull {
                hasNull = true
                continue
            }
            guard let itsTag = Self.tag(of: value), tag == 0 || tag == itsTag else { return nil }
            tag = itsTag
            if let number = value.orderedBits {
                numbers = numbers.map { (min($0.least, number), max($0.greatest, number)) } ?? (number, number)
            } else {
                Self.withBytes(of: value) { bytes.look(at: $0) }
            }
        }
        if let numbers {
            kind = .number
            (least, offset) = (numbers.least, hasNull ? 1 : 0)
            let (greatest, overflows) = (numbers.greatest - numbers.least).addingReportingOverflow(offset)
            if overflows { return nil }
            width = UInt64.bitWidth - greatest.leadingZeroBitCount
        } else if tag != 0 {
            kind = .bytes
            commonCount = bytes.commonCount
            width = min(bytes.greatestCount - commonCount, 8) * 8
            isExact = bytes.greatestCount - commonCount <= 8 && !bytes.hasZero && !hasNull
        }
    }

    @inline(__always)
    func of(_ value: SlotValue) -> UInt64 {
        switch kind {
        case .null: return 0
        case .number: return value.orderedBits.map { $0 - least + offset } ?? 0
        case .bytes:
            let count = width / 8
            return Self.withBytes(of: value) { bytes in
                let bytes = bytes.dropFirst(commonCount).prefix(count)
                let number = bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                return bytes.isEmpty ? 0 : number << UInt64((count - bytes.count) * 8)
            } ?? 0
        }
    }

    private static func tag(of value: SlotValue) -> UInt8? {
        switch value {
        case .integer: 1
        case .real(let number): number.isNaN ? nil : 2
        case .text: 3
        case .data: 4
        default: nil
        }
    }

    // SAFETY: the bytes are read during the call, while `value` holds them.
    @inline(__always) @discardableResult
    private static func withBytes<Result>(
        of value: SlotValue, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        switch value {
        case .text(let text): TextBytes.with(text) { body(UnsafeRawBufferPointer($0)) }
        case .data(let data): data.withUnsafeBytes(body)
        default: nil
        }
    }
}

/// The common prefix and other properties of a list of texts.
private struct ByteSurvey {
    private var first: [UInt8]?
    private(set) var commonCount = 0
    private(set) var greatestCount = 0
    /// True if a text contains a zero byte, which would collide with the padding of shorter texts.
    private(set) var hasZero = false

    // SAFETY: the caller holds the bytes during the call; only a copy is kept.
    mutating func look(at bytes: UnsafeRawBufferPointer) {
        greatestCount = max(greatestCount, bytes.count)
        if !hasZero, bytes.contains(0) { hasZero = true }
        guard let first else {
            first = Array(bytes)
            commonCount = bytes.count
            return
        }
        let most = min(commonCount, bytes.count)
        var count = 0
        while count < most, bytes[count] == first[count] { count += 1 }
        commonCount = count
    }
}
