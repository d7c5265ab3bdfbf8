/// A list in foldable sections, with a sticky header for the current one.
///
/// Design note. The list has no rows of its own: it stores the source's row counts (`ListLines`), the cursor, the first
/// visible line and the folded sections. A frame reads only the visible rows from the source. The cursor can be on
/// rows, and on the headers of folded or empty sections. If the first visible line is a row, the sticky header covers
/// it, so the cursor is never there.
@MainActor public final class SectionedList {
    /// The contents, retained by the list.
    public let source: any ListSource
    /// The columns, in order from the left.
    public var columns: [ListColumn] {
        get { strip.columns }
        set { strip.columns = newValue }
    }
    /// True if sections have headers. A list that is not grouped has none.
    public var hasHeaders = true
    /// The text after a column's title, which shows the sort order.
    public var titleSuffix: (ListColumn) -> String = { _ in "" }
    /// The number of columns at the left that do not scroll sideways.
    public var frozenColumns: Int {
        get { strip.frozen }
        set { strip.frozen = newValue }
    }
    /// The focused column. The list scrolls sideways to show it.
    public var focusedColumn: Int {
        get { strip.focus }
        set { strip.setFocus(newValue) }
    }
    /// True if the bar covers the cursor's whole line. Otherwise it covers the columns that name the record (the frozen
    /// ones, or else the first visible one) and the focused cell, so that a step sends half as many bytes.
    public var barCoversLine = false
    /// The rows of a range that is not complete yet, shown by a line at the left.
    public var range: ClosedRange<ListPath>?
    /// Returns the parts of a cell's text to highlight.
    public var highlight: (String) -> [String] = { _ in [] }
    /// The keys of the folded sections.
    public private(set) var folded: Set<String> = []
    /// The position of the cursor; `nil` in an empty list.
    public internal(set) var cursor: ListPosition?

    var lines = ListLines(hasHeaders: true)
    var top = 0
    /// The number of lines below the column titles in the last frame.
    var viewHeight = 10
    var viewOrigin = Point(x: 0, y: 0)
    var strip: ColumnStrip

    /// Creates a list without rows. Call `reload(cursor:screenLine:)` to read the source.
    public init(source: any ListSource, columns: [ListColumn]) {
        self.source = source
        strip = ColumnStrip(columns)
    }

    // MARK: Following the source

    /// Reads the row counts again, in one pass over the sections.
    ///
    /// - Parameters:
    ///   - cursor: The new position of the cursor's record. If `nil`, the cursor keeps its position or the nearest one.
    ///   - screenLine: The screen line at which the cursor stays.
    public func reload(cursor newCursor: ListPosition? = nil, screenLine: Int? = nil) {
        let line = screenLine ?? self.screenLine
        relayout()
        if let newCursor { cursor = newCursor }
        settleCursor()
        if let line, let cursor { top = lines.line(of: cursor) - line }
        clampTop()
    }

    /// Resets widths, folds and position, before another list is shown.
    public func reset() {
        folded = []
        strip.reset()
        cursor = nil
        top = 0
        relayout()
        settleCursor()
    }

    /// Takes the sideways position of another list if it has the same columns.
    public func takeColumnPosition(of other: SectionedList) { strip.takePosition(of: other.strip) }

    /// Scrolls a column into view, as far as the focused one stays visible.
    public func showColumn(_ id: String) {
        if let column = columns.firstIndex(where: { $0.id == id }) { strip.show(column) }
    }

    /// The line of the cursor in the view.
    public var screenLine: Int? { cursor.map { lines.line(of: $0) - top } }

    /// The number of sections at the last reload.
    public var sectionCount: Int { lines.sectionCount }
    /// The number of rows at the last reload.
    public var rowCount: Int { lines.rowCount }

    /// The number of the cursor's row among all rows, counted from 1.
    public var rowNumber: Int? {
        guard let path = cursor?.path else { return nil }
        return lines.rowCounts[..<path.section].reduce(0, +) + path.row + 1
    }

    private func relayout() {
        lines = ListLines(source: source, hasHeaders: hasHeaders, folded: folded)
    }

    /// Moves the cursor to a visible position if it is not at one.
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

    /// True if the cursor may be at the position.
    func isStop(_ position: ListPosition) -> Bool {
        guard case .header(let section) = position else { return true }
        return lines.isFolded[section] || lines.rowCounts[section] == 0
    }

    /// The nearest possible cursor position from a line on in `direction`, or else in the other direction.
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

    /// True if a sticky header hides the line at the top.
    func hasStickyHeader(atTop line: Int) -> Bool {
        guard hasHeaders, line > 0, line < lines.count else { return false }
        return lines.position(atLine: line).path != nil
    }

    /// Scrolls to make the cursor visible, below the sticky header.
    public func revealCursor() {
        clampTop()
        guard let cursor else { return }
        let line = lines.line(of: cursor)
        if line >= top + viewHeight { top = line - viewHeight + 1 }
        if line < top { top = line }
        // Scrolling to the first row of a section also shows its header.
        if line == top, line > 0, cursor.path != nil, hasHeaders { top = line - 1 }
        clampTop()
        if line == top, hasStickyHeader(atTop: top) { top -= 1 }
    }

    // MARK: Folding

    /// True if the rows of a section are hidden.
    public func isFolded(section: Int) -> Bool { section < lines.sectionCount && lines.isFolded[section] }

    /// Folds or unfolds a section. If the cursor is in it, it moves to the header or the first row.
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

    /// Folds exactly the sections with these keys, when a list is shown again.
    public func restoreFolds(_ keys: Set<String>) {
        folded = keys
        relayout()
        settleCursor()
    }
}
