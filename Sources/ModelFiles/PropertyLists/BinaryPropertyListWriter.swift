import Foundation

/// Writes binary property lists (`bplist00`); equal strings and other plain values are written once.
package struct BinaryPropertyListWriter {
    /// A value whose parts are object numbers of the file.
    private enum Flat {
        case plain([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var objects: [Flat] = []
    private var known: [[UInt8]: Int] = [:]
    /// The objects of references and of ASCII texts, the most frequent values. (Other texts may be equal but have
    /// different bytes.)
    private var references: [Int: Int] = [:]
    private var texts: [String: Int] = [:]

    /// The bytes of the file. Dictionaries are sorted by key, so that equal values result in equal files.
    package static func write(_ value: PropertyListValue) -> Data {
        var writer = BinaryPropertyListWriter()
        let root = writer.add(value)
        return writer.finish(root: root)
    }

    private mutating func add(_ value: PropertyListValue) -> Int {
        switch value {
        case .boolean(let flag): return addPlain([flag ? 0x09 : 0x08])
        case .integer(let number): return addPlain(Self.encoded(number))
        case .real(let number): return addPlain([0x23] + Self.bigEndian(number.bitPattern, size: 8))
        case .date(let seconds): return addPlain([0x33] + Self.bigEndian(seconds.bitPattern, size: 8))
        case .data(let data): return addPlain(Self.head(0x4, data.count) + data)
        case .string(let text): return add(text)
        case .reference(let number):
            if let place = references[number] { return place }
            let size = Self.size(for: number, among: [1, 2, 4, 8])
            let place = addPlain([0x80 | UInt8(size - 1)] + Self.bigEndian(UInt64(number), size: size))
            references[number] = place
            return place
        case .array(let values):
            let place = reserve()
            objects[place] = .array(values.map { add($0) })
            return place
        case .dictionary(let entries):
            let place = reserve()
            let sorted = entries.sorted { $0.key < $1.key }
            let keys = sorted.map { add($0.key) }
            objects[place] = .dictionary(keys: keys, values: sorted.map { add($0.value) })
            return place
        }
    }

    private mutating func add(_ text: String) -> Int {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return addPlain(Self.encoded(text)) }
        if let place = texts[text] { return place }
        let place = addPlain(Self.encoded(text))
        texts[text] = place
        return place
    }

    private mutating func reserve() -> Int {
        objects.append(.plain([]))
        return objects.count - 1
    }

    private mutating func addPlain(_ bytes: [UInt8]) -> Int {
        if let place = known[bytes] { return place }
        let place = reserve()
        objects[place] = .plain(bytes)
        known[bytes] = place
        return place
    }

    private func finish(root: Int) -> Data {
        let referenceSize = Self.size(for: objects.count - 1, among: [1, 2, 4, 8])
        var output = Array("bplist00".utf8)
        var offsets: [Int] = []
        func append(_ numbers: [Int], size: Int) {
            for number in numbers {
                var shift = 8 * size
                while shift > 0 {
                    shift -= 8
                    output.append(UInt8(truncatingIfNeeded: number >> shift))
                }
            }
        }
        for object in objects {
            offsets.append(output.count)
            switch object {
            case .plain(let bytes): output += bytes
            case .array(let parts):
                output += Self.head(0xA, parts.count)
                append(parts, size: referenceSize)
            case .dictionary(let keys, let values):
                output += Self.head(0xD, keys.count)
                append(keys + values, size: referenceSize)
            }
        }
        let table = output.count
        let offsetSize = Self.size(for: table, among: [1, 2, 4, 8])
        append(offsets, size: offsetSize)
        output += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        append([objects.count, root, table], size: 8)
        return Data(output)
    }

    /// The kind and count of an object.
    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 0x0F] + encoded(Int64(count))
    }

    private static func encoded(_ number: Int64) -> [UInt8] {
        guard number >= 0 else { return [0x13] + bigEndian(UInt64(bitPattern: number), size: 8) }
        let size = size(for: Int(number), among: [1, 2, 4, 8])
        let marker: [Int: UInt8] = [1: 0x10, 2: 0x11, 4: 0x12, 8: 0x13]
        return [marker[size] ?? 0x13] + bigEndian(UInt64(number), size: size)
    }

    private static func encoded(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return head(0x5, text.utf8.count) + Array(text.utf8) }
        let units = Array(text.utf16)
        return head(0x6, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    /// The smallest of `sizes` that holds `number`.
    private static func size(for number: Int, among sizes: [Int]) -> Int {
        sizes.first { $0 == 8 || number < 1 << (8 * $0) } ?? 8
    }

    private static func bigEndian(_ number: UInt64, size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (size - 1 - $0))) }
    }
}
