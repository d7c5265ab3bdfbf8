/// Rows of text in aligned columns under headings.
///
/// The widths are those of the first thousand lines, which are buffered; later lines are streamed. On a screen, columns
/// that do not fit are left out at the right end, and the headings report it.
struct TextTable {
    private static let measuredLines = 1000
    private static let gap = "  "
    /// A longer cell is written in full if there is no screen, but does not widen its column further.
    private static let greatestWidth = 240

    private enum Line {
        case row([String])
        case heading(String)
    }

    private let headings: [String]
    private let isRightAligned: [Bool]
    private let style: TextStyle
    private let output: any TextOutput
    private let indent: Int
    private var held: [Line] = []
    private var widths: [Int]?

    /// - Parameter indent: spaces before each row, but not before the headings of sections.
    init(
        headings: [String], rightAligned: [Bool], indent: Int = 0, style: TextStyle, output: any TextOutput
    ) {
        self.headings = headings
        self.isRightAligned = rightAligned
        self.indent = indent
        self.style = style
        self.output = output
    }

    mutating func row(_ cells: [String]) throws { try add(.row(cells.map(VisibleText.shown))) }

    /// A line of its own between the rows.
    mutating func heading(_ text: String) throws { try add(.heading(VisibleText.shown(text))) }

    mutating func end() throws { try release() }

    private mutating func add(_ line: Line) throws {
        if let widths { return try write(line, widths) }
        held.append(line)
        if held.count == Self.measuredLines { try release() }
    }

    private mutating func release() throws {
        guard widths == nil else { return }
        var widths = headings.map(style.width)
        for case .row(let cells) in held {
            for (column, cell) in cells.enumerated() where column < widths.count {
                widths[column] = max(widths[column], min(style.width(cell), Self.greatestWidth))
            }
        }
        let fitting = fitting(widths)
        self.widths = fitting
        try writeHeadings(fitting)
        for line in held { try write(line, fitting) }
        held = []
    }

    /// The leading widths that fit on the screen, at least one; the first is reduced if it does not fit.
    private func fitting(_ widths: [Int]) -> [Int] {
        guard let columns = style.columns else { return widths }
        var used = indent
        var result: [Int] = []
        for (index, width) in widths.enumerated() {
            let needed = width + (index == 0 ? 0 : Self.gap.count)
            let reserve = index == widths.count - 1 ? 0 : 3
            if used + needed + reserve > columns, index > 0 { break }
            result.append(min(width, max(1, columns - used)))
            used += needed
        }
        return result
    }

    private func writeHeadings(_ widths: [Int]) throws {
        var line = text(headings, widths)
        if widths.count < headings.count, style.width(line) + 3 <= style.columns ?? .max { line += "  …" }
        try output.write(style.bold(line) + "\n")
    }

    private func write(_ line: Line, _ widths: [Int]) throws {
        switch line {
        case .row(let cells): try output.write(text(cells, widths) + "\n")
        case .heading(let text): try output.write(style.bold(text) + "\n")
        }
    }

    private func text(_ cells: [String], _ widths: [Int]) -> String {
        var text = String(repeating: " ", count: indent)
        for (column, width) in widths.enumerated() {
            let cell = column < cells.count ? cut(cells[column], to: width) : ""
            let space = String(repeating: " ", count: max(0, width - style.width(cell)))
            if column > 0 { text += Self.gap }
            text += isRightAligned[column] ? space + cell : cell + space
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    private func cut(_ cell: String, to width: Int) -> String {
        guard style.columns != nil, style.width(cell) > width else { return cell }
        var result = ""
        for character in cell {
            if style.width(result + String(character)) > width - 1 { break }
            result.append(character)
        }
        return result + "…"
    }
}
