/// A list in sections that can be folded, with the header of the current one stuck to the top.
///
/// Design note. The list owns no rows: it knows the source's row counts (`ListLines`), the cursor, the first line shown
/// and what is folded. A frame asks the source for the visible rows only. The cursor rests on rows, and on the headers
/// of folded or empty sections. Where the first visible line is a row, the sticky header covers that line, so the cursor
/// is kept off it.
public final class SectionedList {
    /// Kept alive by the list.
    public let source: any ListSource
    /// The columns, from left to right.
    public var columns: [ListColumn] {
        didSet { if columns != oldValue { measured = [] } }
    }
    /// Whether sections have headers; a list that is not grouped has none.
    public var hasHeaders = true
    /// What is drawn after a column's title: the sort order.
    public var titleSuffix: (ListColumn) -> String = { _ in "" }
    /// So many columns at the left are always shown.
    public var frozenColumns = 0
    /// The column that has the focus.
    public var focusedColumn = 0
    /// Whether the bar covers the cursor's whole line. Without it the bar covers what names the record, which are the
    /// frozen columns or the first one, and the cell that has the focus: a step then sends half as many bytes.
    public var barCoversLine = false
    /// The rows of a range that is not chosen yet: a line stands at their left.
    public var range: ClosedRange<ListPath>?
    /// Text to highlight in the rows.
    public var highlight = ""
    /// The keys of the folded sections.
    public private(set) var folded: Set<String> = []
    /// Where the cursor is; `nil` in an empty list.
    public internal(set) var cursor: ListPosition?

    var lines = ListLines(hasHeaders: true)
    var top = 0
    /// The lines beneath the column titles, as of the last frame.
    var viewHeight = 10
    var viewOrigin = Point(x: 0, y: 0)
    /// The widest text seen in each column: it only grows, so that columns do not dance while scrolling.
    var measured: [Int] = []
    /// Where columns stood in the last frame, for the mouse.
    var columnSpans: [(column: Int, span: Range<Int>)] = []

    /// A list without rows until its source was read: call `reload(cursor:screenLine:)`.
    public init(source: any ListSource, columns: [ListColumn]) {
        self.source = source
        self.columns = columns
    }

    // MARK: Following the source

    /// Reads the sections' counts again. One pass over the sections.
    ///
    /// - Parameters:
    ///   - cursor: where the cursor's record stands now; without one, the cursor keeps its place or the nearest.
    ///   - screenLine: the screen line on which to keep it.
    public func reload(cursor newCursor: ListPosition? = nil, screenLine: Int? = nil) {
        let line = screenLine ?? self.screenLine
        relayout()
        if let newCursor { cursor = newCursor }
        settleCursor()
        if let line, let cursor { top = lines.line(of: cursor) - line }
        clampTop()
    }

    /// Forgets widths, folds and the place: another list is about to be shown.
    public func reset() {
        folded = []
        measured = []
        cursor = nil
        top = 0
        focusedColumn = 0
        relayout()
        settleCursor()
    }

    /// On which line of the view the cursor stands.
    public var screenLine: Int? { cursor.map { lines.line(of: $0) - top } }

    /// How many sections there were when the source was last read.
    public var sectionCount: Int { lines.sectionCount }
    /// How many rows there were when the source was last read.
    public var rowCount: Int { lines.rowCount }

    /// The number of the cursor's row among all rows, counted from 1.
    public var rowNumber: Int? {
        guard let path = cursor?.path else { return nil }
        return lines.rowCounts[..<path.section].reduce(0, +) + path.row + 1
    }

    private func relayout() {
        lines = ListLines(source: source, hasHeaders: hasHeaders, folded: folded)
    }

    /// Puts the cursor on something that exists and is shown.
    private func settleCursor() {
        guard lines.count > 0 else {
            cursor = nil
            return
        }
        guard let current = cursor else {
            cursor = stop(atLine: 0, direction: 1)
            return
        }
        if lines.shows(current), isStop(current) { return }
        if let path = current.path, path.section < lines.sectionCount {
            if lines.isFolded[path.section] {
                cursor = .header(path.section)
                return
            }
            if lines.rowCounts[path.section] > 0 {
                cursor = .row(ListPath(section: path.section, row: min(path.row, lines.rowCounts[path.section] - 1)))
                return
            }
        }
        cursor = stop(atLine: min(lines.line(of: current), lines.count - 1), direction: 1)
    }

    /// Whether the cursor may rest there.
    func isStop(_ position: ListPosition) -> Bool {
        guard case .header(let section) = position else { return true }
        return lines.isFolded[section] || lines.rowCounts[section] == 0
    }

    /// The nearest resting place at a line or beyond it in `direction`, else on the other side.
    func stop(atLine line: Int, direction: Int) -> ListPosition? {
        for step in [direction, -direction] {
            var candidate = max(0, min(line, lines.count - 1))
            while candidate >= 0, candidate < lines.count {
                let position = lines.position(atLine: candidate)
                if isStop(position) { return position }
                candidate += step
            }
        }
        return nil
    }

    // MARK: Scrolling

    func clampTop() { top = max(0, min(top, lines.count - viewHeight)) }

    /// Whether the line at the top is hidden beneath a sticky header.
    func hasStickyHeader(atTop line: Int) -> Bool {
        guard hasHeaders, line > 0, line < lines.count else { return false }
        return lines.position(atLine: line).path != nil
    }

    /// Scrolls so that the cursor is seen, beneath the sticky header.
    public func revealCursor() {
        clampTop()
        guard let cursor else { return }
        let line = lines.line(of: cursor)
        if line >= top + viewHeight { top = line - viewHeight + 1 }
        if line < top { top = line }
        // The header of the section comes into view together with its first row.
        if line == top, line > 0, cursor.path != nil, hasHeaders { top = line - 1 }
        clampTop()
        if line == top, hasStickyHeader(atTop: top) { top -= 1 }
    }

    // MARK: Folding

    /// Whether the rows of a section are hidden.
    public func isFolded(section: Int) -> Bool { section < lines.sectionCount && lines.isFolded[section] }

    /// Folds or unfolds one section; the cursor goes to its header or first row.
    public func setFolded(_ fold: Bool, section: Int) {
        guard hasHeaders, section < lines.sectionCount else { return }
        let key = source.key(ofSection: section)
        let wasOn = cursor?.section == section
        if fold { folded.insert(key) } else { folded.remove(key) }
        let place = cursor.map { lines.line(of: $0) - top }
        relayout()
        if wasOn {
            cursor =
                fold || lines.rowCounts[section] == 0
                ? .header(section) : .row(ListPath(section: section, row: 0))
        }
        settleCursor()
        if let cursor, let place { top = lines.line(of: cursor) - min(place, viewHeight - 1) }
        revealCursor()
    }

    /// Folds or unfolds all sections.
    public func setAllFolded(_ fold: Bool) {
        guard hasHeaders else { return }
        let section = cursor?.section
        folded = fold ? Set((0..<source.sectionCount).map { source.key(ofSection: $0) }) : []
        relayout()
        if let section, section < lines.sectionCount {
            cursor = fold ? .header(section) : .row(ListPath(section: section, row: 0))
        }
        settleCursor()
        revealCursor()
    }

    /// Folds exactly the sections with these keys: when a list is shown again.
    public func restoreFolds(_ keys: Set<String>) {
        folded = keys
        relayout()
        settleCursor()
    }
}
