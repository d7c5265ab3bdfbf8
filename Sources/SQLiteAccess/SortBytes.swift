import CSQLite3
import Foundation

/// Values of columns as bytes that sort like the values in SQLite: NULL, then numbers, texts, blobs.
///
///     nothing  10
///     number   20, its bits as a `Double` in order, highest first; from 2⁵³ on, where several integers
///              share a `Double`, its position among those: one byte and eight
///     text     30, its bytes (00 as 01 01, 01 as 01 02), 00
///     blob     40, the same
///
/// The bytes of a value are never a prefix of another's, so those of several columns are concatenated. The bytes of a
/// descending column are inverted.
// SAFETY: each value reserves at least eight bytes more than it writes, so that a word may be read at any place up to
// `count`; `deinit` frees the memory. SQLite keeps a column's bytes until the statement's next step.
struct SortBytes: ~Copyable {
    private enum Tag {
        static let null: UInt8 = 0x10
        static let number: UInt8 = 0x20
        static let text: UInt8 = 0x30
        static let blob: UInt8 = 0x40
    }

    private static let slack = 32
    private static let exactDoubles = 0x1p53

    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 1 << 16
        memory = .allocate(capacity: capacity)
    }

    deinit { memory.deallocate() }

    // MARK: Writing

    /// Appends the value of a column of the current row.
    mutating func append(_ statement: OpaquePointer, _ column: SortColumn) {
        reserve(Self.slack)
        let mask: UInt8 = column.isAscending ? 0 : 0xFF
        // One call for the value instead of one for each property; no other code uses the statement during the call.
        let value = sqlite3_column_value(statement, Int32(column.index))
        switch sqlite3_value_type(value) {
        case SQLITE_NULL: put(Tag.null ^ mask)
        case SQLITE_INTEGER: append(sqlite3_value_int64(value), mask)
        case SQLITE_FLOAT: append(sqlite3_value_double(value), mask)
        case SQLITE_TEXT: append(Self.content(of: value), Tag.text, mask)
        default: append(Self.content(of: value), Tag.blob, mask)
        }
    }

    private static func content(of value: OpaquePointer?) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    private mutating func append(_ number: Int64, _ mask: UInt8) {
        let double = Double(number)
        append(bitsOf: double, mask)
        if abs(double) >= Self.exactDoubles { append(placeOf: number, isBeyond: false, mask) }
    }

    private mutating func append(_ number: Double, _ mask: UInt8) {
        append(bitsOf: number, mask)
        guard abs(number) >= Self.exactDoubles else { return }
        let exact = Int64(exactly: number)
        append(placeOf: exact ?? (number < 0 ? .min : .max), isBeyond: exact == nil && number > 0, mask)
    }

    private mutating func append(bitsOf number: Double, _ mask: UInt8) {
        put(Tag.number ^ mask)
        // 0 and -0 are equal.
        let bits = (number == 0 ? 0 : number).bitPattern
        put(bits >> 63 == 0 ? bits | 1 << 63 : ~bits, mask)
    }

    private mutating func append(placeOf number: Int64, isBeyond: Bool, _ mask: UInt8) {
        put((isBeyond ? 1 : 0) ^ mask)
        put(UInt64(bitPattern: number) ^ 1 << 63, mask)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer, _ tag: UInt8, _ mask: UInt8) {
        reserve(2 * bytes.count + Self.slack)
        put(tag ^ mask)
        var next = 0
        while next < bytes.count {
            if bytes.count - next >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: next, as: UInt64.self)
                if Self.hasNone(lessThanTwo: word) {
                    put(word.bigEndian, mask)
                    next += 8
                    continue
                }
            }
            let byte = bytes[next]
            if byte < 2 { put(1 ^ mask) }
            put((byte < 2 ? byte + 1 : byte) ^ mask)
            next += 1
        }
        put(mask)
    }

    /// True if each byte of a word is at least 2: tested eight at a time, by the borrow of a subtraction.
    @inline(__always)
    private static func hasNone(lessThanTwo word: UInt64) -> Bool {
        (word &- 0x0202_0202_0202_0202) & ~word & 0x8080_8080_8080_8080 == 0
    }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if count + more > capacity { grow(more) }
    }

    private mutating func grow(_ more: Int) {
        while count + more > capacity { capacity *= 2 }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    @inline(__always)
    private mutating func put(_ word: UInt64, _ mask: UInt8) {
        let masked = mask == 0 ? word : ~word
        UnsafeMutableRawPointer(memory + count).storeBytes(of: masked.bigEndian, as: UInt64.self)
        count += 8
    }

    // MARK: Reading

    /// The number of bytes in `range` that are the same `distance` bytes later.
    func commonCount(_ range: Range<Int>, _ distance: Int) -> Int {
        range.first { memory[$0] != memory[$0 + distance] }.map { $0 - range.lowerBound } ?? range.count
    }

    /// The eight bytes at `place`, the first one most significant; 0 for those from `end` on.
    @inline(__always)
    func word(at place: Int, end: Int) -> UInt64 {
        let word = UInt64(bigEndian: UnsafeRawPointer(memory + place).loadUnaligned(as: UInt64.self))
        let missing = 8 - (end - place)
        return missing <= 0 ? word : missing >= 8 ? 0 : word & (~0 << (UInt64(missing) * 8))
    }

    /// Less than, equal to or greater than 0, depending on the order of the bytes of `left` and `right`.
    @inline(__always)
    func compare(_ left: Range<Int>, _ right: Range<Int>) -> Int {
        let order = memcmp(memory + left.lowerBound, memory + right.lowerBound, min(left.count, right.count))
        return order == 0 ? left.count - right.count : Int(order)
    }

    /// The bytes of the value that begins at `place`.
    func range(at place: Int, _ column: SortColumn) -> Range<Int> {
        let mask: UInt8 = column.isAscending ? 0 : 0xFF
        var end = place + 1
        switch memory[place] ^ mask {
        case Tag.null: break
        case Tag.number: end += abs(double(at: place, mask)) >= Self.exactDoubles ? 17 : 8
        default:
            while memory[end] != mask { end += 1 }
            end += 1
        }
        return place..<end
    }

    /// The value that begins at `place`; whole numbers are returned as integers, even if stored as a `Double`.
    func value(at place: Int, _ column: SortColumn) -> SQLiteValue {
        let mask: UInt8 = column.isAscending ? 0 : 0xFF
        switch memory[place] ^ mask {
        case Tag.null: return .null
        case Tag.number: return number(at: place, mask)
        case Tag.text: return .text(String(decoding: content(at: place, column, mask), as: UTF8.self))
        default: return .blob(Data(content(at: place, column, mask)))
        }
    }

    private func double(at place: Int, _ mask: UInt8) -> Double {
        let bits = word(at: place + 1, mask)
        return Double(bitPattern: bits >> 63 == 1 ? bits ^ 1 << 63 : ~bits)
    }

    private func number(at place: Int, _ mask: UInt8) -> SQLiteValue {
        let double = double(at: place, mask)
        if abs(double) < Self.exactDoubles { return Int64(exactly: double).map { .integer($0) } ?? .real(double) }
        guard memory[place + 9] == mask, double >= -0x1p63 else { return .real(double) }
        return .integer(Int64(bitPattern: word(at: place + 10, mask) ^ 1 << 63))
    }

    private func word(at place: Int, _ mask: UInt8) -> UInt64 {
        let word = word(at: place, end: place + 8)
        return mask == 0 ? word : ~word
    }

    private func content(at place: Int, _ column: SortColumn, _ mask: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        var isEscaped = false
        for index in range(at: place, column).dropFirst().dropLast() {
            let byte = memory[index] ^ mask
            if byte == 1 && !isEscaped {
                isEscaped = true
                continue
            }
            bytes.append(isEscaped ? byte - 1 : byte)
            isEscaped = false
        }
        return bytes
    }
}
