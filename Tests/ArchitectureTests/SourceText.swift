import Foundation

/// One file by its lines, comments included. Lines are looked for by their bytes: all sources have a hundred thousand.
///
/// Counts on the layout that `swift format` gives a file: what belongs to a declaration is indented deeper than it.
struct SourceText: Sendable {
    /// Relative to the package, for messages.
    let path: String
    /// With a zero behind the last one.
    private let bytes: [UInt8]
    /// Where each line begins, and where a line behind the last one would.
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

    /// A line, counted from 0.
    func line(_ number: Int) -> String {
        String(decoding: bytes[starts[number]..<max(starts[number], starts[number + 1] - 1)], as: UTF8.self)
    }

    /// The lines on which `text` occurs, ascending.
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

    /// How far a line is indented; `nil` for one without text.
    func indentation(of number: Int) -> Int? {
        var place = starts[number]
        while place < starts[number + 1] - 1, bytes[place] == UInt8(ascii: " ") { place += 1 }
        return place < starts[number + 1] - 1 ? place - starts[number] : nil
    }

    /// The first bytes of a line's text.
    func begins(_ number: Int, with text: StaticString) -> Bool {
        let place = starts[number] + (indentation(of: number) ?? 0)
        guard place + text.utf8CodeUnitCount <= bytes.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memcmp(start + place, text.utf8Start, text.utf8CodeUnitCount) == 0
        }
    }

    /// Whether a line is nothing but a comment.
    func isComment(_ number: Int) -> Bool { begins(number, with: "//") }

    /// What a line has before its comment.
    func code(_ number: Int) -> Substring {
        let line = line(number)
        guard let comment = line.range(of: "//") else { return line[...] }
        return line[..<comment.lowerBound]
    }

    /// The line itself, and the first lines of the declarations and statements that it is in, from the inside out.
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

    /// The lines of the comment directly above a line, from below; attributes may stand between the two.
    func commentLines(above number: Int) -> [Int] {
        let block = (0..<number).reversed().prefix { isComment($0) || begins($0, with: "@") }
        return block.filter(isComment)
    }
}
