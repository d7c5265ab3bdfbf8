/// The changes of a file in the format of `diff -u`.
public enum UnifiedDiff {
    private static let context = 3

    /// Lines of the old text and the lines that replace them.
    private struct Change {
        /// Line indexes, counted from 0.
        var old: Range<Int>
        var new: [String]
    }

    /// - Parameters:
    ///   - path: Path of the file in the header, after `a/` and `b/`.
    ///   - edits: Edits in file order, without overlaps.
    /// - Returns: The diff; empty without edits.
    public static func text(of edits: [SourceEdit], in bytes: [UInt8], path: String) -> String {
        guard !edits.isEmpty else { return "" }
        let starts = lineStarts(of: bytes)
        let lines = starts.indices.map { index in
            String(
                decoding: bytes[starts[index]..<(index + 1 < starts.count ? starts[index + 1] : bytes.count)],
                as: UTF8.self)
        }
        let changes = changes(edits, bytes, starts)
        var result = "--- a/\(path)\n+++ b/\(path)\n"
        var shift = 0
        for hunk in hunks(changes) {
            let first = max(hunk[0].old.lowerBound - context, 0)
            let end = min(hunk[hunk.count - 1].old.upperBound + context, lines.count)
            var body = ""
            var place = first
            var added = 0
            for change in hunk {
                for line in lines[place..<change.old.lowerBound] { body += shown(" ", line) }
                for line in lines[change.old] { body += shown("-", line) }
                for line in change.new { body += shown("+", line) }
                added += change.new.count - change.old.count
                place = change.old.upperBound
            }
            for line in lines[place..<end] { body += shown(" ", line) }
            let count = end - first
            result += "@@ -\(span(first, count)) +\(span(first + shift, count + added)) @@\n" + body
            shift += added
        }
        return result
    }

    private static func span(_ first: Int, _ count: Int) -> String {
        let start = count == 0 ? first : first + 1
        return count == 1 ? "\(start)" : "\(start),\(count)"
    }

    private static func shown(_ mark: String, _ line: String) -> String {
        line.utf8.last == .newline ? mark + line : mark + line + "\n\\ No newline at end of file\n"
    }

    /// Offsets at which lines begin. A line break at the end of the file does not begin another line.
    private static func lineStarts(of bytes: [UInt8]) -> [Int] {
        SwiftSource.lineStarts(of: bytes).filter { $0 < bytes.count }
    }

    private static func changes(_ edits: [SourceEdit], _ bytes: [UInt8], _ starts: [Int]) -> [Change] {
        var groups: [(lines: Range<Int>, edits: [SourceEdit])] = []
        var line = 0
        for edit in edits {
            while line + 1 < starts.count, starts[line + 1] <= edit.range.lowerBound { line += 1 }
            let lines = lines(of: edit, from: line, bytes, starts)
            if let last = groups.last?.lines, lines.lowerBound < last.upperBound || lines == last {
                groups[groups.count - 1].lines = last.lowerBound..<max(last.upperBound, lines.upperBound)
                groups[groups.count - 1].edits.append(edit)
            } else {
                groups.append((lines, [edit]))
            }
        }
        return groups.map { group in
            let start = group.lines.lowerBound < starts.count ? starts[group.lines.lowerBound] : bytes.count
            let end = group.lines.upperBound < starts.count ? starts[group.lines.upperBound] : bytes.count
            let moved = group.edits.map {
                SourceEdit(
                    range: $0.range.lowerBound - start..<$0.range.upperBound - start, replacement: $0.replacement)
            }
            let text = EditList.apply(moved, to: Array(bytes[start..<end]))
            return trimmed(Change(old: group.lines, new: splitLines(text)), bytes, starts)
        }.filter { !$0.old.isEmpty || !$0.new.isEmpty }
    }

    /// The lines that an edit changes; an empty range if it inserts whole lines between two lines.
    private static func lines(of edit: SourceEdit, from first: Int, _ bytes: [UInt8], _ starts: [Int]) -> Range<Int> {
        guard !starts.isEmpty, edit.range.lowerBound < bytes.count else {
            let endsLine = bytes.last.map { $0 == .newline } ?? true
            return endsLine ? starts.count..<starts.count : starts.count - 1..<starts.count
        }
        var last = first
        while last + 1 < starts.count, starts[last + 1] <= edit.range.upperBound { last += 1 }
        let isWhole = edit.replacement.isEmpty || edit.replacement.utf8.last == .newline
        if starts[first] == edit.range.lowerBound, isWhole, starts[last] == edit.range.upperBound {
            return first..<last
        }
        if edit.range.upperBound == bytes.count, last + 1 == starts.count { return first..<starts.count }
        return first..<last + 1
    }

    private static func splitLines(_ bytes: [UInt8]) -> [String] {
        var result: [String] = []
        var start = 0
        for (offset, byte) in bytes.enumerated() where byte == .newline {
            result.append(String(decoding: bytes[start...offset], as: UTF8.self))
            start = offset + 1
        }
        if start < bytes.count { result.append(String(decoding: bytes[start...], as: UTF8.self)) }
        return result
    }

    /// The change without unchanged lines at its ends.
    private static func trimmed(_ change: Change, _ bytes: [UInt8], _ starts: [Int]) -> Change {
        var change = change
        func old(_ line: Int) -> String {
            String(
                decoding: bytes[starts[line]..<(line + 1 < starts.count ? starts[line + 1] : bytes.count)],
                as: UTF8.self)
        }
        while let line = change.old.first, let first = change.new.first, old(line).utf8.elementsEqual(first.utf8) {
            change.old = line + 1..<change.old.upperBound
            change.new.removeFirst()
        }
        while let line = change.old.last, let last = change.new.last, old(line).utf8.elementsEqual(last.utf8) {
            change.old = change.old.lowerBound..<line
            change.new.removeLast()
        }
        return change
    }

    /// Groups changes that are at most `2 * context` lines apart, which share a hunk.
    private static func hunks(_ changes: [Change]) -> [[Change]] {
        var result: [[Change]] = []
        for change in changes {
            if let last = result.last?.last, change.old.lowerBound - last.old.upperBound <= 2 * context {
                result[result.count - 1].append(change)
            } else {
                result.append([change])
            }
        }
        return result
    }
}
