extension SectionedList {
    /// Draws the column titles and the visible lines.
    public func draw(in canvas: Canvas) {
        guard canvas.height > 1 else { return }
        viewHeight = canvas.height - 1
        viewOrigin = Point(x: canvas.frame.minX, y: canvas.frame.minY + 1)
        revealCursor()
        let visible = (0..<viewHeight).compactMap { row in
            top + row < lines.count ? lines.position(atLine: top + row) : nil
        }
        let texts = layOutColumns(visible, in: canvas)
        drawTitles(in: canvas)
        let body = canvas.part(x: 0, y: 1, width: canvas.width, height: viewHeight)
        for (row, position) in visible.enumerated() {
            switch position {
            case .header(let section): drawHeader(section, in: body, y: row, isSelected: position == cursor)
            case .row(let path): drawRow(path, texts: texts, in: body, y: row)
            }
        }
        if hasStickyHeader(atTop: top) {
            drawHeader(lines.position(atLine: top).section, in: body, y: 0, isSelected: false)
        }
    }

    /// Chooses the visible columns. Returns their texts in the visible lines, by column.
    private func layOutColumns(_ visible: [ListPosition], in canvas: Canvas) -> [Int: [String]] {
        var texts: [Int: [String]] = [:]
        strip.layOut(in: canvas.width) { index, column in
            let cells = visible.map { $0.path.map { source.text(ofColumn: index, at: $0) } ?? "" }
            texts[index] = cells
            let title = canvas.text.width(column.title + titleSuffix(column))
            return cells.reduce(title) { max($0, canvas.text.width($1, upTo: canvas.width)) }
        }
        return texts
    }

    private func drawTitles(in canvas: Canvas) {
        canvas.fillLine(0, style: Style(.columnTitle))
        let layout = strip.layout
        for place in layout.places {
            let column = columns[place.column]
            let suffix = titleSuffix(column)
            let name = canvas.text.truncated(column.title, to: max(1, place.width - canvas.text.width(suffix)))
            let title = canvas.text.padded(name + suffix, to: place.width, alignment: column.alignment)
            canvas.write(title, x: place.x, y: 0, style: Style(.columnTitle, selected: place.column == focusedColumn))
        }
        if layout.hiddenLeft > 0, layout.showsNotes {
            let note = canvas.symbols.moreLeft + "\(layout.hiddenLeft)"
            canvas.write(note, x: layout.leftNoteX, y: 0, style: .muted)
        }
        if layout.hiddenRight > 0, layout.showsNotes {
            let note = "+\(layout.hiddenRight)" + canvas.symbols.moreRight
            let x = canvas.width - canvas.text.width(note)
            if layout.places.allSatisfy({ $0.x + $0.width <= x }) { canvas.write(note, x: x, y: 0, style: .muted) }
        }
    }

    private func drawHeader(_ section: Int, in canvas: Canvas, y: Int, isSelected: Bool) {
        let style = Style(.heading, selected: isSelected)
        canvas.fillLine(y, style: Style(.heading, selected: isSelected && barCoversLine))
        let fold = lines.isFolded[section] ? canvas.symbols.foldClosed : canvas.symbols.foldOpen
        let count = " (\(GroupedNumber.text(source.count(ofSection: section)))) "
        let room = max(1, canvas.width - ColumnStrip.margin - canvas.text.width(count))
        canvas.write(canvas.text.padded(fold, to: ColumnStrip.margin), x: 0, y: y, style: style)
        var x = ColumnStrip.margin
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

    /// - Parameter texts: the texts of the visible lines, by column.
    private func drawRow(_ path: ListPath, texts: [Int: [String]], in canvas: Canvas, y: Int) {
        let isSelected = cursor == .row(path)
        let mark = source.mark(at: path)
        let style = Style(mark?.role ?? .text, selected: isSelected)
        let rest = style.selected(isSelected && barCoversLine)
        let focused = Style(mark?.role ?? .focusedColumn, selected: isSelected)
        canvas.fillLine(y, style: rest)
        canvas.write(String(repeating: " ", count: ColumnStrip.margin), x: 0, y: y, style: style)
        if let mark { canvas.write(mark.symbol(canvas.symbols), x: 0, y: y, style: style) }
        if source.isMarked(at: path) {
            canvas.write(canvas.symbols.pointer, x: 1, y: y, style: Style(.key, selected: isSelected))
        } else if range?.contains(path) == true {
            canvas.write(canvas.symbols.vertical, x: 1, y: y, style: Style(.key, selected: isSelected))
        }
        for (index, place) in strip.layout.places.enumerated() {
            let cell = canvas.text.padded(
                texts[place.column]?[y] ?? "", to: place.width, alignment: columns[place.column].alignment)
            let isFocused = place.column == focusedColumn
            let isNaming = index < strip.layout.naming
            canvas.write(cell, x: place.x, y: y, style: isFocused ? focused : isNaming ? style : rest)
            // The bar covers the gaps between naming columns.
            if isNaming, index + 1 < strip.layout.naming {
                canvas.write(
                    String(repeating: " ", count: ColumnStrip.gap), x: place.x + place.width, y: y, style: style)
            }
            for part in Set(highlight(cell)) {
                for match in canvas.text.matches(of: part, in: cell) {
                    canvas.restyle(x: place.x + match.lowerBound, y: y, count: match.count) {
                        Style(.match, selected: $0.isSelected)
                    }
                }
            }
        }
    }
}
