import Foundation
import Testing

@testable import RosterCommands

@Suite struct DelimitedTextTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func lines(_ text: String, _ kind: DelimitedText) throws -> [[String?]] {
        let reader = DelimitedReader(try ByteReader(path: try folder.file("lines", text)), kind: kind)
        var lines: [[String?]] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    @Test func readsCommas() throws {
        let text = "a,b,c\r\n1,,\"\"\n\"x \"\"y\"\"\",\"one\r\ntwo\",\"a,b\"\r\n\nlast,2,3"
        #expect(
            try lines(text, .csv) == [
                ["a", "b", "c"], ["1", nil, ""], ["x \"y\"", "one\r\ntwo", "a,b"], ["last", "2", "3"],
            ])
    }

    @Test(arguments: ["a,\"b", "a\"b", "\"a\"b"]) func refusesBrokenQuotes(text: String) throws {
        #expect(throws: DelimitedReader.SyntaxError.self) { try lines(text, .csv) }
    }

    @Test(arguments: [DelimitedText.csv, .tsv]) func roundTripsAnything(kind: DelimitedText) throws {
        let pieces = ["", "a", ",", "\"", "\t", "\n", "\r", "\\", "\\N", "日本", " ", "\r\n", "NULL", "é", "\u{301}"]
        var random = SeededGenerator(seed: 11)
        var all: [[String?]] = []
        for _ in 0..<500 {
            let line = (0..<3).map { _ -> String? in
                if random.number(below: 5) == 0 { return nil }
                return (0..<random.number(below: 4)).map { _ in pieces[random.number(below: pieces.count)] }.joined()
            }
            // A line with a single NULL would be empty; with three fields there is always a separator.
            all.append(line)
        }
        #expect(try lines(all.map(kind.line).joined(), kind) == all, "seed 11")
    }

    @Test(arguments: ["\\Nx\tb\nc\td\n", "a\t\\N1\n", "\\N\\N\n"]) func textNextToANullIsRefused(text: String) {
        #expect(throws: DelimitedReader.SyntaxError.self) { try lines(text, .tsv) }
    }

    /// Detecting the meaning of backslashes costs another pass over the file.
    @Test func escapesAreAskedForAtTheFirstBackslash() throws {
        var count = 0
        func read(_ text: String) throws -> [String?]? {
            let reader = DelimitedReader(ByteReader(Array(text.utf8), name: "text"), kind: .tsv) {
                count += 1
                return false
            }
            var last: [String?]?
            while let line = try reader.next() { last = line }
            return last
        }
        #expect(try read("a\tb\nc\td\n") == ["c", "d"] && count == 0)
        #expect(try read("a\tC:\\tmp\nc\t\\\n") == ["c", "\\"] && count == 1)
    }

    @Test func nullsBetweenTabsAreRead() throws {
        #expect(try lines("\\N\t\\N\n\\N\tb", .tsv) == [[nil, nil], [nil, "b"]])
    }
}
