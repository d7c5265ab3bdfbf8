import Foundation
import Testing

@testable import ModelFiles

@Suite struct BinaryPropertyListTests {
    private func random(_ generator: inout SeededGenerator, depth: Int) -> PropertyListValue {
        switch Int.random(in: 0..<(depth > 3 ? 7 : 9), using: &generator) {
        case 0: return .boolean(Bool.random(using: &generator))
        case 1:
            return .integer(Int64(truncatingIfNeeded: generator.next() >> UInt64.random(in: 0...63, using: &generator)))
        case 2: return .real(Double.random(in: -1e9...1e9, using: &generator))
        case 3: return .date(Double.random(in: -1e9...1e9, using: &generator))
        case 4: return .data(Data((0..<Int.random(in: 0...40, using: &generator)).map { UInt8($0) }))
        case 5:
            let alphabet = Array("abcäß漢字🦊\u{301}")
            return .string(
                String(
                    (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                        alphabet.randomElement(using: &generator) ?? "a"
                    }))
        case 6: return .reference(Int.random(in: 0...70_000, using: &generator))
        case 7:
            return .array(
                (0..<Int.random(in: 0...20, using: &generator)).map { _ in random(&generator, depth: depth + 1) })
        default:
            var entries: [String: PropertyListValue] = [:]
            for number in 0..<Int.random(in: 0...20, using: &generator) {
                entries["key\(number)"] = random(&generator, depth: depth + 1)
            }
            return .dictionary(entries)
        }
    }

    @Test(arguments: 1...40) func writtenListsReadBack(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let value = PropertyListValue.array((0..<20).map { _ in random(&generator, depth: 0) })
        #expect(try BinaryPropertyListReader.read(BinaryPropertyListWriter.write(value)) == value)
    }

    /// Swift considers these texts equal.
    @Test func equivalentTextsKeepTheirCharacters() throws {
        let texts = ["K", "\u{212A}", ";", "\u{37E}", "`", "\u{1FEF}", "\u{E9}", "e\u{301}"]
        let list = PropertyListValue.array((texts + texts.reversed()).map { .string($0) })
        guard case .array(let read) = try BinaryPropertyListReader.read(BinaryPropertyListWriter.write(list)) else {
            Issue.record("no list")
            return
        }
        let scalars = read.map { value -> [Unicode.Scalar] in
            if case .string(let text) = value { Array(text.unicodeScalars) } else { [] }
        }
        #expect(scalars == (texts + texts.reversed()).map { Array($0.unicodeScalars) })
    }

    /// Foundation reads the written bytes with the same result.
    @Test func foundationReadsWhatIsWritten() throws {
        let value = PropertyListValue.dictionary([
            "numbers": .array([
                .integer(-1), .integer(0), .integer(255), .integer(65536), .integer(.max), .integer(.min),
            ]),
            "text": .string("漢字 and plain"), "flag": .boolean(true), "real": .real(1.5), "when": .date(86400),
            "bytes": .data(Data(0...200)),
        ])
        let data = BinaryPropertyListWriter.write(value)
        let list = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        #expect(list["numbers"] as? [Int64] == [-1, 0, 255, 65536, .max, .min])
        #expect(list["text"] as? String == "漢字 and plain")
        #expect(list["flag"] as? Bool == true)
        #expect(list["real"] as? Double == 1.5)
        #expect(list["when"] as? Date == Date(timeIntervalSinceReferenceDate: 86400))
        #expect(list["bytes"] as? Data == Data(0...200))
        let foundations = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        #expect(try BinaryPropertyListReader.read(foundations) == value)
    }

    /// Arrays nested `count` deep, each of two references to the next: 2ᶜᵒᵘⁿᵗ values.
    private func sharedArrays(_ count: UInt8) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for level in 0..<count {
            offsets.append(UInt8(bytes.count))
            bytes += [0xA2, level + 1, level + 1]
        }
        offsets.append(UInt8(bytes.count))
        bytes.append(0x09)
        let table = UInt8(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, count + 1]
        return Data(bytes + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, table])
    }

    @Test func sharedObjectsExpandToALimit() throws {
        guard case .array(let top) = try BinaryPropertyListReader.read(sharedArrays(10)) else {
            Issue.record("the root is not an array")
            return
        }
        #expect(top.count == 2)
        #expect(throws: PropertyListError.self) { try BinaryPropertyListReader.read(sharedArrays(40)) }
    }

    @Test func objectsThatContainThemselvesAreAnError() {
        var bytes = Array("bplist00".utf8) + [0xA1, 0]
        bytes += [8] + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
        bytes += [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(throws: PropertyListError.self) { try BinaryPropertyListReader.read(Data(bytes)) }
    }

    @Test func everyPrefixIsAnError() {
        let data = BinaryPropertyListWriter.write(.array([.string("text"), .integer(70_000), .data(Data(0...30))]))
        for count in 0..<data.count {
            #expect(throws: PropertyListError.self) { try BinaryPropertyListReader.read(data.prefix(count)) }
        }
    }
}
