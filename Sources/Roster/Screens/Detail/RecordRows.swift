import TerminalKit

/// The lines of a record as rows of the screen. Long texts take several rows, which are wrapped on demand.
struct RecordRows {
    struct Row {
        let line: Int
        let text: String
        let isFirst: Bool
    }

    let lines: [RecordLine]
    /// The rows computed so far.
    private(set) var known: [Row] = []
    private let width: Int
    private let text: TextWidth
    /// The line of the next row, and the rest of its text if that is being wrapped.
    private var line = 0
    private var wrapped: WrappedLines?

    init(_ lines: [RecordLine] = [], width: Int = 0, text: TextWidth = TextWidth()) {
        self.lines = lines
        self.width = width
        self.text = text
    }

    /// True once all rows are known.
    var isComplete: Bool { line == lines.count }

    /// Computes rows until there are `count`, or all are known.
    mutating func reach(_ count: Int) {
        while known.count < count, line < lines.count { addNext() }
    }

    private mutating func addNext() {
        let place = lines[line]
        guard place.wraps else {
            known.append(Row(line: line, text: place.value, isFirst: true))
            line += 1
            return
        }
        let isFirst = wrapped == nil
        var lines =
            wrapped ?? WrappedLines(place.value, to: max(8, width - 2 * place.depth), text, breaksAtNewlines: true)
        if let text = lines.next() { known.append(Row(line: line, text: text, isFirst: isFirst)) }
        wrapped = lines.isAtEnd ? nil : lines
        if lines.isAtEnd { line += 1 }
    }

    /// The first row after `start` that satisfies `isWanted`, else the first up to `start`. Computes only rows it
    /// examines.
    ///
    /// - Parameter end: the row before which the search ends.
    mutating func first(after start: Int, before end: Int = .max, where isWanted: (RecordLine, Row) -> Bool) -> Int? {
        var row = start + 1
        reach(row + 1)
        while row < min(end, known.count) {
            if isWanted(lines[known[row].line], known[row]) { return row }
            row += 1
            reach(row + 1)
        }
        return known.prefix(start + 1).firstIndex { isWanted(lines[$0.line], $0) }
    }

    /// The last row before `end` for which `isWanted` is true, else the last of all.
    mutating func last(before end: Int, where isWanted: (RecordLine, Row) -> Bool) -> Int? {
        if let row = known.prefix(end).lastIndex(where: { isWanted(lines[$0.line], $0) }) { return row }
        reach(.max)
        return known.lastIndex { isWanted(lines[$0.line], $0) }
    }
}
