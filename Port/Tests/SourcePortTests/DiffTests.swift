import Foundation
import SourcePort
import Testing

/// Diffs as input of `patch`.
@Suite struct DiffTests {
    /// Applying the diff to a file gives the ported file.
    @Test(arguments: Pair.all)
    func patchGivesTheSame(_ pair: Pair) throws {
        for before in [
            pair.before, String(pair.before.dropLast()), pair.before.replacingOccurrences(of: "\n", with: "\r\n"),
        ] {
            let file = ported(before)
            #expect(try Patch.apply(file.diff(path: "a.swift"), to: before) == file.string)
        }
    }

    @Test func aDiffHasThreeLinesAroundChanges() {
        let text = (1...30).map {
            $0 == 10 || $0 == 14 || $0 == 25 ? "let a\($0) = #keyPath(A.b)\n" : "let a\($0) = 1\n"
        }.joined()
        let diff = ported(text).diff(path: "Sources/a.swift")
        #expect(diff.hasPrefix("--- a/Sources/a.swift\n+++ b/Sources/a.swift\n@@ -7,11 +7,11 @@\n let a7 = 1\n"))
        #expect(diff.contains("@@ -22,7 +22,7 @@\n") && diff.hasSuffix(" let a28 = 1\n"))
    }
}

/// Applies a diff strictly: a line that does not match is an error.
enum Patch {
    struct Mismatch: Error { let line: String }

    static func apply(_ diff: String, to text: String) throws -> String {
        let old = lines(text)
        var result = ""
        var place = 0
        var body = lines(diff).dropFirst(2)[...]
        while let line = body.popFirst() {
            let mark = line.utf8.first.map { Character(Unicode.Scalar($0)) }
            var content = String(decoding: line.utf8.dropFirst(), as: UTF8.self)
            if let next = body.first, next.hasPrefix("\\ No newline") {
                body.removeFirst()
                content = String(decoding: content.utf8.dropLast(), as: UTF8.self)
            }
            switch mark {
            case "@":
                let numbers = line.split { !$0.isNumber }
                let isEmpty = line.hasPrefix("@@ -\(numbers[0]),0 ")
                let start = (Int(numbers[0]) ?? 0) - (isEmpty ? 0 : 1)
                result += old[place..<start].joined()
                place = start
            case "+": result += content
            case " ", "-":
                guard place < old.count, old[place].utf8.elementsEqual(content.utf8) else { throw Mismatch(line: line) }
                if mark == " " { result += content }
                place += 1
            default: throw Mismatch(line: line)
            }
        }
        return result + old[place...].joined()
    }

    private static func lines(_ text: String) -> [String] {
        var result: [String] = []
        var line: [UInt8] = []
        for byte in text.utf8 {
            line.append(byte)
            if byte == 0x0A {
                result.append(String(decoding: line, as: UTF8.self))
                line = []
            }
        }
        return line.isEmpty ? result : result + [String(decoding: line, as: UTF8.self)]
    }
}
