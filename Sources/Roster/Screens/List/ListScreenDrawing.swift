import CoreData
import Foundation
import TerminalKit

// Painting the main screen.

extension ListScreen {
    func draw(in canvas: Canvas) {
        canvas.clear()
        guard canvas.height > 2 else {
            view.draw(in: canvas)
            return
        }
        drawTitle(in: canvas)
        let hasHints = canvas.height >= 12
        let statusLine = canvas.height - (hasHints ? 2 : 1)
        let paneHeight = showsCallbacks && statusLine > 8 ? min(12, statusLine / 2) : 0
        let body = canvas.part(x: 0, y: 1, width: canvas.width, height: statusLine - 1 - paneHeight)
        view.highlight = searchText ?? ""
        view.draw(in: body)
        if records.objectCount == 0 { drawEmptyNote(in: body) }
        if paneHeight > 0 {
            drawCallbacks(in: canvas.part(x: 0, y: statusLine - paneHeight, width: canvas.width, height: paneHeight))
        }
        drawStatus(in: canvas, y: statusLine)
        if hasHints { drawHints(in: canvas, y: canvas.height - 1) }
    }

    private func drawTitle(in canvas: Canvas) {
        canvas.fillLine(0, style: .text)
        var x = canvas.write(session.url.lastPathComponent, x: 0, y: 0, style: .heading, limit: canvas.width / 2)
        x += 2
        for (index, other) in entities.enumerated() where x < canvas.width - 4 {
            let number = index < 9 ? "\(index + 1) " : ""
            x += canvas.write(number, x: x, y: 0, style: .muted)
            let isCurrent = other === entity
            x += canvas.write(other.name ?? "", x: x, y: 0, style: isCurrent ? Style(.text, selected: true) : .text)
            x += 2
        }
        if session.isReadOnly {
            let note = session.model.isInferred ? " model inferred, read-only " : " read-only "
            canvas.write(note, x: max(0, canvas.width - note.count), y: 0, style: Style(.warning, selected: true))
        }
    }

    /// What the list is, and where in it the cursor stands.
    private func drawStatus(in canvas: Canvas, y: Int) {
        let settings = records.settings
        let shown = DeletePlan.counted(records.objectCount, entity.name ?? "record")
        var left: [(String, Role)] = [(" \(shown)", .status)]
        if !settings.filter.isEmpty { left.append(("  filter: \(settings.filter)", .status)) }
        if let section = settings.sectionKey { left.append(("  by \(PropertyTitle.title(section))", .status)) }
        let arrows = settings.sortKeys.map { ($0.isAscending ? "↑" : "↓") + PropertyTitle.title($0.keyPath) }
        if !arrows.isEmpty { left.append(("  sorted " + arrows.joined(separator: " "), .status)) }
        var right: [(String, Role)] = []
        if isSearching, let search { right.append((" searching \(search.progress) % ", .status)) }
        if !keys.pendingLabel.isEmpty { right.append((" \(keys.pendingLabel)… ", .status)) }
        let unsaved = session.unsavedCount
        if unsaved > 0 { right.append((" *\(unsaved) unsaved ", .status)) }
        if let number = view.rowNumber { right.append((" \(number)/\(records.objectCount) ", .status)) }
        StatusLine(left: left, right: right).draw(in: canvas, y: y)
    }

    private func drawHints(in canvas: Canvas, y: Int) {
        if awaitsIndexLetter {
            let titles = sectionIndexTitles.joined(separator: " ")
            canvas.write("section beginning with: \(titles)", x: 0, y: y, style: .key)
            return
        }
        if isSearching, let search {
            canvas.write("looking for “\(search.text)”: any key stops", x: 0, y: y, style: .muted)
            return
        }
        let hints = session.isReadOnly ? Self.hints.filter { !Self.editingKeys.contains($0.0) } : Self.hints
        KeyHints.draw(hints, in: canvas, y: y)
    }

    /// Hints that mean nothing where nothing can be changed.
    private static let editingKeys: Set<String> = ["e", "o", "D", "^S"]

    private static let hints = [
        ("?", "help"), ("Enter", "open"), ("e", "edit"), ("o", "add"), ("D", "delete"), ("/", "find"), ("\\", "filter"),
        ("s", "sort"), ("gs", "sections"), ("za", "fold"), ("c", "callbacks"), ("^S", "save"), ("q", "quit"),
    ]

    private func drawEmptyNote(in canvas: Canvas) {
        let plural = DeletePlan.plural(entity.name ?? "record")
        let isFiltered = !records.settings.filter.isEmpty
        let first = isFiltered ? "No \(plural) match the filter." : "There are no \(plural) yet."
        let second =
            isFiltered
            ? "Press \\ to change the filter; an empty one shows all."
            : session.isReadOnly ? "The store is open read-only." : "Press o to add one."
        canvas.write(first, x: 2, y: 2, style: .text)
        canvas.write(second, x: 2, y: 3, style: .muted)
    }

    private func drawCallbacks(in canvas: Canvas) {
        canvas.rule(y: 0)
        canvas.write(" Callbacks of the results controller ", x: 2, y: 0, style: .heading)
        let height = canvas.height - 1
        if log.lines.isEmpty {
            canvas.write("none yet: change a record, here or in another program", x: 2, y: 1, style: .muted)
        }
        for (row, line) in log.lines.suffix(height).enumerated() {
            canvas.fillLine(row + 1, style: .text)
            var x = 0
            for run in line.runs { x += canvas.write(run.text, x: x, y: row + 1, style: Style(run.role)) }
        }
    }
}

/// The most useful keys in one line, as many as there is room for.
enum KeyHints {
    static func draw(_ hints: [(key: String, word: String)], in canvas: Canvas, y: Int) {
        canvas.fillLine(y, style: .text)
        var x = 0
        for (key, word) in hints where x + key.count + word.count + 1 <= canvas.width {
            x += canvas.write(key, x: x, y: y, style: .key)
            x += canvas.write(" \(word)", x: x, y: y, style: .muted) + 2
        }
    }
}
