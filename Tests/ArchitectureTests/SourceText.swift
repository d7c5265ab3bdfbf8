import Foundation

/// Lines of one file, with comments. Searches compare bytes, because all sources have a hundred thousand lines.
///
/// Expects the layout of `swift format`: the contents of a declaration are indented deeper than the declaration.
struct SourceText: Sendable {
    /// Path relative to the package, for messages.
    let path: String
    /// The text with a final zero byte.
    private let bytes: [UInt8]
    /// Offsets of the lines' beginnings, and the offset after the last line.
    private let starts: [Int]

    init(path: String, text: String) { self.init(path: path, bytes: Array(text.utf8)) }

    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes + [0]
        var starts = [0]
        bytes.withUnsafeBytes { bytes in
            while let start = bytes.baseAddress, let last = starts.last,
                let end = memchr(start + last, 10, bytes.count - last)
            {
                starts.append(UnsafeRawPointer(end) - start + 1)
            }
        }
        starts.append(bytes.count + 1)
        self.starts = starts
    }

    var content: String { String(decoding: bytes.dropLast(), as: UTF8.self) }
    var lineCount: Int { starts.count - 1 }

    /// Returns a line; `number` counts from 0.
    func line(_ number: Int) -> String {
        String(decoding: bytes[starts[number]..<max(starts[number], starts[number + 1] - 1)], as: UTF8.self)
    }

    /// Numbers of the lines that contain `text`, ascending.
    func lines(with text: String) -> [Int] {
        var found: [Int] = []
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            var place = 0
            while let match = strstr(start + place, text) {
                let number = number(ofLineAt: UnsafePointer(match) - start)
                found.append(number)
                place = min(bytes.count - 1, starts[number + 1])
            }
        }
        return found
    }

    private func number(ofLineAt offset: Int) -> Int {
        var (low, high) = (0, lineCount)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    /// Indentation of a line in spaces; nil if the line is empty.
    func indentation(of number: Int) -> Int? {
        var place = starts[number]
        while place < starts[number + 1] - 1, bytes[place] == UInt8(ascii: " ") { place += 1 }
        return place < starts[number + 1] - 1 ? place - starts[number] : nil
    }

    /// True if the text of a line begins with `text`.
    func begins(_ number: Int, with text: StaticString) -> Bool {
        let place = starts[number] + (indentation(of: number) ?? 0)
        guard place + text.utf8CodeUnitCount <= bytes.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memcmp(start + place, text.utf8Start, text.utf8CodeUnitCount) == 0
        }
    }

    /// True if a line contains only a comment.
    func isComment(_ number: Int) -> Bool { begins(number, with: "//") }

    /// The part of a line before its comment.
    func code(_ number: Int) -> Substring {
        let line = line(number)
        guard let comment = line.range(of: "//") else { return line[...] }
        return line[..<comment.lowerBound]
    }

    /// The line itself and the first lines of enclosing declarations and statements, from the inside out.
    func headers(of number: Int) -> [Int] {
        guard var deepest = indentation(of: number) else { return [] }
        var headers = [number]
        for line in (0..<number).reversed() where deepest > 0 {
            guard let indentation = indentation(of: line), indentation < deepest, !isComment(line) else { continue }
            guard !begins(line, with: "}"), !begins(line, with: ")"), !begins(line, with: "#") else { continue }
            deepest = indentation
            headers.append(line)
        }
        return headers
    }

    /// Lines of the comment directly above a line, from bottom to top. Attributes may separate the two.
    func commentLines(above number: Int) -> [Int] {
        let block = (0..<number).reversed().prefix { isComment($0) || begins($0, with: "@") }
        return block.filter(isComment)
    }
}
