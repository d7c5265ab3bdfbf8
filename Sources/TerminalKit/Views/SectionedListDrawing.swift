import Foundation

extension SectionedList {
    /// The first column of text, after the mark and a space.
    private static let margin = 2

    /// Draws the column titles and the visible lines.
    public func draw(in canvas: Canvas) {
        guard canvas.height > 1 else { return }
        viewHeight = canvas.height - 1
        viewOrigin = Point(x: canvas.frame.minX, y: canvas.frame.minY + 1)
        revealCursor()
        let visible = (0..<viewHeight).compactMap { row in
            top + row < lines.count ? lines.position(atLine: top + row) : nil
        }
        let texts = visible.map { position in
            position.path.map { path in columns.indices.map { source.text(ofColumn: $0, at: path) } } ?? []
        }
        let widths = fit(texts, in: canvas)
        drawTitles(widths, in: canvas)
        let body = canvas.part(x: 0, y: 1, width: canvas.width, height: viewHeight)
        for (row, position) in visible.enumerated() {
            switch position {
            case .header(let section): drawHeader(section, in: body, y: row, isSelected: position == cursor)
            case .row(let path): drawRow(path, texts: texts[row], widths: widths, in: body, y: row)
            }
        }
        if hasStickyHeader(atTop: top) {
            drawHeader(lines.position(atLine: top).section, in: body, y: 0, isSelected: false)
        }
    }

    private func fit(_ texts: [[String]], in canvas: Canvas) -> [Int?] {
        if measured.count != columns.count { measured = columns.map { canvas.text.width($0.title + titleSuffix($0)) } }
        for row in texts {
            for (column, text) in row.enumerated() {
                measured[column] = max(measured[column], canvas.text.width(text, upTo: Self.greatestWidth))
            }
        }
        func widths(_ available: Int) -> [Int?] {
            ColumnFit.widths(
                of: columns, natural: measured, available: available,
                pinned: Set(0..<namingColumns), focused: focusedColumn)
        }
        let room = canvas.width - Self.margin
        let all = widths(room)
        let used = all.compactMap(\.self).reduce(-ColumnFit.gap) { $0 + $1 + ColumnFit.gap }
        let note = canvas.text.width(Self.hiddenNote(all, canvas)) + 1
        // The number of omitted columns is shown if the line is wide enough for it.
        guard all.contains(nil), used + note > room, canvas.width >= Self.leastWidthForNote else { return all }
        return widths(room - note)
    }

    /// The maximum width that a column gets from its texts.
    private static let greatestWidth = 60

    /// On narrower screens, columns use the whole line.
    private static let leastWidthForNote = 40

    private static func hiddenNote(_ widths: [Int?], _ canvas: Canvas) -> String {
        "+\(widths.count { $0 == nil })" + canvas.symbols.moreRight
    }

    /// The number of columns at the left that name the record.
    private var namingColumns: Int { max(1, frozenColumns) }

    private func drawTitles(_ widths: [Int?], in canvas: Canvas) {
        canvas.fillLine(0, style: Style(.columnTitle))
        columnSpans = []
        var x = Self.margin
        for (index, column) in columns.enumerated() {
            guard let width = widths[index] else { continue }
            let suffix = titleSuffix(column)
            let name = canvas.text.truncated(column.title, to: max(1, width - canvas.text.width(suffix)))
            let title = canvas.text.padded(name + suffix, to: width, alignment: column.alignment)
            canvas.write(title, x: x, y: 0, style: Style(.columnTitle, selected: index == focusedColumn))
            columnSpans.append((index, x..<(x + width + ColumnFit.gap)))
            x += width + ColumnFit.gap
        }
        guard widths.contains(nil) else { return }
        let note = Self.hiddenNote(widths, canvas)
        let noteX = canvas.width - canvas.text.width(note)
        if noteX > x - ColumnFit.gap { canvas.write(note, x: noteX, y: 0, style: Style(.muted)) }
    }

    private func drawHeader(_ section: Int, in canvas: Canvas, y: Int, isSelected: Bool) {
        let style = Style(.heading, selected: isSelected)
        canvas.fillLine(y, style: Style(.heading, selected: isSelected && barCoversLine))
        let fold = lines.isFolded[section] ? canvas.symbols.foldClosed : canvas.symbols.foldOpen
        let count = " (\(GroupedNumber.text(source.count(ofSection: section)))) "
        let room = max(1, canvas.width - Self.margin - canvas.text.width(count))
        canvas.write(canvas.text.padded(fold, to: Self.margin), x: 0, y: y, style: style)
        var x = Self.margin
        x += canvas.write(source.title(ofSection: section), x: x, y: y, style: style, limit: room)
        x += canvas.write(count, x: x, y: y, style: Style(.muted, selected: isSelected))
        if let note = source.note(ofSection: section) {
            x += canvas.write(note.text + " ", x: x, y: y, style: Style(.key, selected: isSelected))
            x += drawBar(note.share, in: canvas, x: x, y: y, style: Style(.key, selected: isSelected))
        }
        let border = Style(.border, selected: isSelected && barCoversLine)
        while x < canvas.width { x += max(1, canvas.write(canvas.symbols.horizontal, x: x, y: y, style: border)) }
    }

    /// The maximum number of columns of a section's bar.
    private static let barWidth = 20

    /// Draws a bar as long as the section's share. Returns the number of columns written.
    private func drawBar(_ share: Double?, in canvas: Canvas, x: Int, y: Int, style: Style) -> Int {
        guard let share, share.isFinite, share > 0, x + 4 < canvas.width else { return 0 }
        let length = max(1, Int((min(1, share) * Double(min(Self.barWidth, canvas.width - x - 2))).rounded()))
        return canvas.write(String(repeating: canvas.symbols.bar, count: length) + " ", x: x, y: y, style: style)
    }

    private func drawRow(_ path: ListPath, texts: [String], widths: [Int?], in canvas: Canvas, y: Int) {
        let isSelected = cursor == .row(path)
        let mark = source.mark(at: path)
        let style = Style(mark?.role ?? .text, selected: isSelected)
        let rest = style.selected(isSelected && barCoversLine)
        canvas.fillLine(y, style: rest)
        canvas.write(String(repeating: " ", count: Self.margin), x: 0, y: y, style: style)
        if let mark { canvas.write(mark.symbol(canvas.symbols), x: 0, y: y, style: style) }
        if source.isMarked(at: path) {
            canvas.write(canvas.symbols.pointer, x: 1, y: y, style: Style(.key, selected: isSelected))
        } else if range?.contains(path) == true {
            canvas.write(canvas.symbols.vertical, x: 1, y: y, style: Style(.key, selected: isSelected))
        }
        var x = Self.margin
        for (index, column) in columns.enumerated() {
            guard let width = widths[index] else { continue }
            let cell = canvas.text.padded(texts[index], to: width, alignment: column.alignment)
            // The bar covers the gaps between naming columns.
            let isNaming = index < namingColumns
            let isLastNaming = index == namingColumns - 1
            let bar = isNaming && !isLastNaming ? cell + String(repeating: " ", count: ColumnFit.gap) : cell
            canvas.write(bar, x: x, y: y, style: isNaming || index == focusedColumn ? style : rest)
            highlight(cell, x: x, y: y, in: canvas)
            x += width + ColumnFit.gap
        }
    }

    /// Highlights the searched text in a cell.
    private func highlight(_ cell: String, x: Int, y: Int, in canvas: Canvas) {
        guard !highlight.isEmpty else { return }
        let needle = canvas.text.glyphs(highlight).map { Self.folded($0.text) }
        let glyphs = canvas.text.glyphs(cell)
        let folded = glyphs.map { Self.folded($0.text) }
        guard !needle.isEmpty, folded.count >= needle.count else { return }
        var column = x
        for start in 0...(folded.count - needle.count) {
            if Array(folded[start..<(start + needle.count)]) == needle {
                let width = glyphs[start..<(start + needle.count)].reduce(0) { $0 + $1.width }
                canvas.restyle(x: column, y: y, count: width) { Style(.match, selected: $0.isSelected) }
            }
            column += glyphs[start].width
        }
    }

    /// Returns a glyph without case and marks, for comparison in searches.
    private static func folded(_ text: String) -> String {
        guard text.utf8.count > 1 else { return text.lowercased() }
        let base = text.decomposedStringWithCanonicalMapping.unicodeScalars.first
        return base.map { String($0).lowercased() } ?? text
    }
}
