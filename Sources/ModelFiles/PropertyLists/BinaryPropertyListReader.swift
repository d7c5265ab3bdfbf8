import Foundation

/// Reads binary property lists (`bplist00`).
///
/// The file is a table of objects that refer to each other by number. Every object is decoded once, so the cost depends
/// only on the size of the file, even if objects are shared many times. Circular references are an error, and so are
/// objects that share each other so often that they expand beyond ``expansionLimit(ofBytes:)``.
package struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private var offsets: [Int] = []
    private var referenceSize = 1
    private var decoded: [PropertyListValue?] = []
    private var isBeingDecoded: [Bool] = []
    /// The expanded size of each object, with all its parts counted each time they occur: one for a value, and one for
    /// each 256 bytes of it.
    private var weights: [Int] = []
    /// The weight of the object that is being decoded.
    private var weight = 0
    private let expansionLimit: Int

    /// The deepest nesting that is accepted. Keyed archives are flat: three levels.
    private let greatestDepth = 128

    /// The maximum weight for a file of `count` bytes: a walk over the value visits shared objects each time.
    package static func expansionLimit(ofBytes count: Int) -> Int { 65_536 + count * 64 }

    /// Reads the value of the file. Cost: linear in the size.
    ///
    /// - Throws: ``PropertyListError``.
    package static func read(_ data: Data) throws -> PropertyListValue {
        var reader = try BinaryPropertyListReader(data)
        return try reader.value(reader.root, depth: 0)
    }

    private var root = 0

    private init(_ data: Data) throws {
        bytes = [UInt8](data)
        expansionLimit = Self.expansionLimit(ofBytes: bytes.count)
        guard bytes.count >= 40, bytes.starts(with: Array("bplist00".utf8)) else {
            throw PropertyListError("this is not a binary property list")
        }
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard let count = try? integer(at: trailer + 8, size: 8), let root = try? integer(at: trailer + 16, size: 8),
            let table = try? integer(at: trailer + 24, size: 8), (1...8).contains(offsetSize),
            (1...8).contains(referenceSize), count > 0, root < count, table >= 8, table <= trailer,
            count <= (trailer - table) / offsetSize
        else { throw PropertyListError("it is truncated, or its end was overwritten", at: trailer) }
        self.root = root
        offsets.reserveCapacity(count)
        for index in 0..<count {
            let offset = try integer(at: table + index * offsetSize, size: offsetSize)
            guard (8..<table).contains(offset) else {
                throw PropertyListError("object \(index) is outside the file", at: table + index * offsetSize)
            }
            offsets.append(offset)
        }
        decoded = Array(repeating: nil, count: count)
        isBeingDecoded = Array(repeating: false, count: count)
        weights = Array(repeating: 0, count: count)
    }

    /// A big-endian unsigned number.
    private func integer(at offset: Int, size: Int) throws -> Int {
        let range = try range(at: offset, count: size)
        var number: UInt64 = 0
        for byte in bytes[range] {
            guard number >> 56 == 0 else { throw PropertyListError("a number is too large", at: offset) }
            number = number << 8 | UInt64(byte)
        }
        guard let result = Int(exactly: number) else { throw PropertyListError("a number is too large", at: offset) }
        return result
    }

    private func range(at offset: Int, count: Int) throws -> Range<Int> {
        guard offset >= 0, count >= 0, count <= bytes.count - offset else {
            throw PropertyListError("it is truncated", at: offset)
        }
        return offset..<offset + count
    }

    private mutating func value(_ index: Int, depth: Int) throws -> PropertyListValue {
        guard decoded.indices.contains(index) else {
            throw PropertyListError("it has no object \(index)", at: bytes.count)
        }
        if let known = decoded[index] {
            try add(weights[index])
            return known
        }
        guard depth <= greatestDepth, !isBeingDecoded[index] else {
            throw PropertyListError("objects contain themselves or are nested too deeply", at: offsets[index])
        }
        isBeingDecoded[index] = true
        let outer = weight
        weight = 1
        let value = try decode(at: offsets[index], depth: depth)
        weights[index] = weight
        weight = outer
        try add(weights[index])
        isBeingDecoded[index] = false
        decoded[index] = value
        return value
    }

    private mutating func add(_ more: Int) throws {
        weight += more
        guard weight <= expansionLimit else {
            throw PropertyListError("its objects repeat each other too often: it would expand beyond the limit")
        }
    }

    private mutating func decode(at offset: Int, depth: Int) throws -> PropertyListValue {
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08: return .boolean(false)
        case 0x0 where marker == 0x09: return .boolean(true)
        case 0x1: return .integer(try signedInteger(at: offset + 1, size: 1 << low))
        case 0x2: return .real(try real(at: offset + 1, size: 1 << low))
        case 0x3 where low == 3: return .date(try real(at: offset + 1, size: 8))
        case 0x4:
            let (start, count) = try length(at: offset)
            let range = try range(at: start, count: count)
            try add(count / 256)
            return .data(Data(bytes[range]))
        case 0x5, 0x7: return .string(try string(at: offset, unit: 1))
        case 0x6: return .string(try string(at: offset, unit: 2))
        case 0x8: return .reference(try integer(at: offset + 1, size: low + 1))
        case 0xA, 0xC:
            let (start, count) = try length(at: offset)
            return .array(try references(at: start, count: count).map { try value($0, depth: depth + 1) })
        case 0xD: return try dictionary(at: offset, depth: depth)
        default: throw PropertyListError("an object has the unknown kind \(marker)", at: offset)
        }
    }

    private mutating func dictionary(at offset: Int, depth: Int) throws -> PropertyListValue {
        let (start, count) = try length(at: offset)
        let keys = try references(at: start, count: count)
        let values = try references(at: start + count * referenceSize, count: count)
        var result: [String: PropertyListValue] = [:]
        result.reserveCapacity(count)
        for (key, number) in zip(keys, values) {
            guard case .string(let name) = try value(key, depth: depth + 1) else {
                throw PropertyListError("a key of a dictionary is not a string", at: offset)
            }
            result[name] = try value(number, depth: depth + 1)
        }
        return .dictionary(result)
    }

    private func references(at offset: Int, count: Int) throws -> [Int] {
        let (size, overflow) = count.multipliedReportingOverflow(by: referenceSize)
        guard !overflow else { throw PropertyListError("a count is too large", at: offset) }
        _ = try range(at: offset, count: size)
        return try (0..<count).map { try integer(at: offset + $0 * referenceSize, size: referenceSize) }
    }

    /// The count of an object and the offset of its contents.
    private func length(at offset: Int) throws -> (start: Int, count: Int) {
        let low = Int(bytes[offset] & 0x0F)
        guard low == 0x0F else { return (offset + 1, low) }
        let marker = bytes[try range(at: offset + 1, count: 1).lowerBound]
        guard marker >> 4 == 0x1, marker & 0x0F <= 3 else {
            throw PropertyListError("a count is not a number", at: offset)
        }
        let size = 1 << Int(marker & 0x0F)
        return (offset + 2 + size, try integer(at: offset + 2, size: size))
    }

    /// Numbers of one, two and four bytes are unsigned, those of eight are signed; of sixteen bytes the lower eight are
    /// used.
    private func signedInteger(at offset: Int, size: Int) throws -> Int64 {
        guard size <= 16 else { throw PropertyListError("a number has \(size) bytes", at: offset) }
        var number: UInt64 = 0
        for byte in bytes[try range(at: offset, count: size)].suffix(8) { number = number << 8 | UInt64(byte) }
        return Int64(bitPattern: number)
    }

    private func real(at offset: Int, size: Int) throws -> Double {
        var number: UInt64 = 0
        guard size == 4 || size == 8 else { throw PropertyListError("a number has \(size) bytes", at: offset) }
        for byte in bytes[try range(at: offset, count: size)] { number = number << 8 | UInt64(byte) }
        return size == 4 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: number))) : Double(bitPattern: number)
    }

    private mutating func string(at offset: Int, unit: Int) throws -> String {
        let (start, count) = try length(at: offset)
        let (size, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow else { throw PropertyListError("a count is too large", at: offset) }
        let range = try range(at: start, count: size)
        try add(size / 256)
        if unit == 1 { return String(decoding: bytes[range], as: UTF8.self) }
        let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }
}
