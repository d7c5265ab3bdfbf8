import Foundation
import Testing

@testable import RosterCommands

/// Endless records use a limited amount of memory and are an error.
@Suite struct EndlessRecordTests {
    private func failure(_ reader: ByteReader, _ body: () throws -> Void) -> String? {
        // Errors after the limit are ignored.
        do { try body() } catch {}
        do { try reader.throwIfFailed() } catch { return "\(error)" }
        return nil
    }

    @Test(arguments: [DelimitedText.csv, .tsv]) func aFieldWithoutEnd(_ kind: DelimitedText) throws {
        let bytes = try ByteReader(path: "/dev/zero", greatestRecord: 1 << 20)
        let text = failure(bytes) { while try DelimitedReader(bytes, kind: kind).next() != nil {} }
        #expect(text?.contains("a record is longer than 1 MiB") == true, "\(text ?? "")")
    }

    @Test(arguments: ["{\"a\": \"", "[", "{\"a\": [", "[[],"]) func aJSONTextWithoutEnd(_ beginning: String) throws {
        let folder = try TemporaryFolder()
        let filling = beginning.last == "\"" ? "x" : "1,"
        let path = try folder.file("long.json", beginning + String(repeating: filling, count: 2 << 20))
        let bytes = try ByteReader(path: path, greatestRecord: 1 << 20)
        let parser = JSONParser(bytes)
        let text = failure(bytes) { _ = try parser.value() }
        #expect(text?.contains("a record is longer than 1 MiB") == true, "\(text ?? "")")
    }

    @Test func manyShortRecordsHaveNoLimit() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("many.csv", String(repeating: "a,b\r\n", count: 1 << 18))
        let bytes = try ByteReader(path: path, greatestRecord: 1 << 18)
        let reader = DelimitedReader(bytes, kind: .csv)
        var count = 0
        bytes.beginRecord()
        while try reader.next() != nil {
            count += 1
            bytes.beginRecord()
        }
        try bytes.throwIfFailed()
        #expect(count == 1 << 18)
    }
}
