extension SectionedList {
    /// Moves the cursor by visible lines, skipping headers.
    public func move(by count: Int) {
        guard let cursor, lines.count > 0, count != 0 else { return }
        let direction = count > 0 ? 1 : -1
        if abs(count) == 1 {
            let next = lines.line(of: cursor) + direction
            guard (0..<lines.count).contains(next), let stop = stop(atLine: next, direction: direction) else { return }
            // At the top, `stop` searches in the other direction: do not move.
            if (lines.line(of: stop) - lines.line(of: cursor)) * direction > 0 { self.cursor = stop }
        } else {
            self.cursor = stop(atLine: lines.line(of: cursor) + count, direction: direction)
        }
        revealCursor()
    }

    /// Moves the cursor by `pages` views; half a page is 0.5.
    public func move(byPages pages: Double) {
        let step = Int(Double(max(1, viewHeight - 2)) * pages)
        top += step
        move(by: step == 0 ? (pages > 0 ? 1 : -1) : step)
    }

    /// Scrolls the view. The cursor moves only if it would leave the view.
    public func scroll(by count: Int) {
        top += count
        clampTop()
        guard let cursor else { return }
        let line = lines.line(of: cursor)
        let first = hasStickyHeader(atTop: top) ? top + 1 : top
        if line < first { self.cursor = stop(atLine: first, direction: 1) }
        if line >= top + viewHeight { self.cursor = stop(atLine: top + viewHeight - 1, direction: -1) }
    }

    /// Moves the cursor to the first line.
    public func moveToStart() {
        cursor = stop(atLine: 0, direction: 1)
        revealCursor()
    }

    /// Moves the cursor to the last line.
    public func moveToEnd() {
        cursor = stop(atLine: lines.count - 1, direction: -1)
        revealCursor()
    }

    /// Moves the cursor to the first row of the section `step` sections on; upwards, first to the start of its own
    /// section. If there is no such section, moves to the end or the start of the list.
    public func moveBySection(_ step: Int) {
        guard let cursor else { return }
        var section = cursor.section + step
        if step < 0, let path = cursor.path, path.row > 0 { section = cursor.section }
        if section >= lines.sectionCount {
            moveToEnd()
        } else if section < 0 {
            moveToStart()
        } else {
            moveToSection(section)
        }
    }

    /// Moves the cursor to a section's first row, or to its header if it is folded, and scrolls it to the top.
    public func moveToSection(_ section: Int) {
        guard section >= 0, section < lines.sectionCount else { return }
        let header = ListPosition.header(section)
        cursor = isStop(header) && hasHeaders ? header : .row(ListPath(section: section, row: 0))
        if !lines.shows(cursor ?? header) { cursor = stop(atLine: lines.starts[section], direction: 1) }
        top = lines.starts[section]
        revealCursor()
    }

    /// Moves the cursor to a row and unfolds its section.
    public func moveToRow(_ path: ListPath) {
        if isFolded(section: path.section) { setFolded(false, section: path.section) }
        guard lines.shows(.row(path)) else { return }
        cursor = .row(path)
        let line = lines.line(of: .row(path))
        if line < top || line >= top + viewHeight { top = line - viewHeight / 2 }
        revealCursor()
    }

    /// Moves the focus by columns, at most to the first or last one.
    public func moveFocus(by step: Int) { focusedColumn += max(-columns.count, min(columns.count, step)) }

    // MARK: Mouse

    /// The section header or row at a screen position in the last frame.
    public func position(at point: Point) -> ListPosition? {
        let row = point.y - viewOrigin.y
        guard (0..<viewHeight).contains(row), top + row < lines.count else { return nil }
        if row == 0, hasStickyHeader(atTop: top) { return .header(lines.position(atLine: top).section) }
        return lines.position(atLine: top + row)
    }

    /// The column whose title is at a screen position.
    public func columnTitle(at point: Point) -> Int? {
        guard point.y == viewOrigin.y - 1 else { return nil }
        let x = point.x - viewOrigin.x
        return strip.layout.places.first { ($0.x..<($0.x + $0.width + ColumnStrip.gap)).contains(x) }?.column
    }

    /// The rectangle of the cursor's cell in a column in the last frame; `nil` if it was not visible.
    public func cursorCell(ofColumn id: String) -> Rect? {
        guard let line = screenLine, (0..<viewHeight).contains(line), let place = place(ofColumn: id) else {
            return nil
        }
        return Rect(x: viewOrigin.x + place.x, y: viewOrigin.y + line, width: place.width, height: 1)
    }

    /// The width of a column in the last frame; `nil` if it was not visible.
    public func shownWidth(ofColumn id: String) -> Int? { place(ofColumn: id)?.width }

    private func place(ofColumn id: String) -> ColumnStrip.Place? {
        strip.layout.places.first { columns.indices.contains($0.column) && columns[$0.column].id == id }
    }

    /// Moves the cursor to a clicked position. Ignores the header of an unfolded section.
    public func setCursor(_ position: ListPosition) {
        if isStop(position) { cursor = position }
    }
}
