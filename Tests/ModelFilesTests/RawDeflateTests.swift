import Foundation
import Testing

@testable import ModelFiles

@Suite struct RawDeflateTests {
    private let text = Data(String(repeating: "Team, Venue, Location; ", count: 5000).utf8)

    @Test func compressedDataExpandsToItself() throws {
        for data in [
            Data(), Data([7]), text, Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }),
        ] {
            #expect(try RawDeflate.expand(RawDeflate.compress(data)) == data)
        }
        #expect(try RawDeflate.compress(text).count < text.count / 50)
    }

    /// "hello hello hello", compressed by Python's zlib with a window of −15.
    @Test func expandsForeignData() throws {
        let foreign = Data([0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x90, 0x00])
        #expect(try RawDeflate.expand(foreign) == Data("hello hello hello".utf8))
    }

    @Test func truncatedDataIsAnError() throws {
        let data = try RawDeflate.compress(text)
        for count in stride(from: 0, to: data.count, by: 7) {
            #expect(throws: RawDeflate.Failure.truncated) { try RawDeflate.expand(data.prefix(count)) }
        }
    }

    @Test func damagedDataNeverCrashes() throws {
        let data = try RawDeflate.compress(text.prefix(20_000))
        var failures = 0
        for position in data.indices {
            var damaged = data
            damaged[position] ^= 0x10
            do { _ = try RawDeflate.expand(damaged, limit: 1 << 20) } catch { failures += 1 }
        }
        #expect(failures > data.count / 4)
    }

    @Test func theResultIsBounded() throws {
        let bomb = try RawDeflate.compress(Data(count: 8 << 20))
        #expect(bomb.count < 20_000)
        #expect(throws: RawDeflate.Failure.tooLarge(limit: 1 << 20)) { try RawDeflate.expand(bomb, limit: 1 << 20) }
    }
}
