import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

extension ListScreen {
    func draw(in canvas: Canvas) {
        canvas.clear()
        guard canvas.height > 2 else {
            view.draw(in: canvas)
            return
        }
        let hasHints = canvas.height >= 12
        let statusLine = canvas.height - (hasHints ? 2 : 1)
        let lowerHeight = (showsCallbacks || statements != nil) && statusLine > 8 ? min(12, statusLine / 2) : 0
        let notes = lowerHeight > 0 ? noteLines(canvas) : []
        // Hints reduce the height of the pane, not of the list.
        let paneHeight = notes.isEmpty ? lowerHeight : max(4, lowerHeight - notes.count)
        let noteTop = statusLine - paneHeight - notes.count
        let footer = canvas.height > 5 ? aggregateFooter : nil
        let body = canvas.part(
            x: 0, y: 1, width: canvas.width, height: noteTop - 1 - (footer == nil ? 0 : 1))
        view.highlight = { [unowned self] in find.highlighted(in: $0) }
        let range = pendingRange
        view.range = range.map { records.path(atIndex: $0.lowerBound)...records.path(atIndex: $0.upperBound) }
        let (listPart, detailPart) = divide(body)
        view.draw(in: listPart)
        // After the rows, because the title says if they could not be read.
        drawTitle(in: canvas)
        if !records.fading.isEmpty { records.fading.noteShown(now: .now) }
        if records.objectCount == 0, work == nil { drawEmptyNote(in: listPart) }
        if let detailPart { detailPane?.draw(inPane: detailPart, isFocused: isDetailFocused) }
        for (row, note) in notes.enumerated() {
            canvas.fillLine(noteTop + row, style: .text)
            canvas.write(note, x: 1, y: noteTop + row, style: .key)
        }
        if let footer {
            canvas.fillLine(body.frame.maxY, style: Style(.columnTitle))
            canvas.write("  " + footer, x: 0, y: body.frame.maxY, style: Style(.columnTitle))
        }
        if paneHeight > 0 {
            let pane = canvas.part(x: 0, y: statusLine - paneHeight, width: canvas.width, height: paneHeight)
            if let statements { drawStatements(statements, in: pane) } else { drawCallbacks(in: pane) }
        }
        drawStatus(in: canvas, y: statusLine)
        if pendingKeys.isShown() {
            PendingKeys.draw(
                keys.pending, next: continuations,
                in: canvas.part(x: 0, y: 1, width: canvas.width, height: statusLine - 1))
        }
        guard hasHints else { return }
        if isDetailFocused, let detailPane {
            detailPane.drawHints(in: canvas)
        } else {
            drawHints(in: canvas, y: canvas.height - 1)
        }
    }

    private func drawTitle(in canvas: Canvas) {
        canvas.fillLine(0, style: .text)
        var note = ""
        if session.isReadOnly { note = session.model.isInferred ? " model inferred, read-only " : " read-only " }
        if session.hasUnreadRecords {
            note = session.isConnectionLost ? tr(" connection lost: rows wait for it ") : tr(" records cannot be read ")
        }
        if let lost = browser.lostFileNote { note = lost }
        if browser.isPicking { note = " pick" + (note.isEmpty ? " " : note) }
        let used = canvas.write(
            StorePlace(url: session.url).shortName, x: 0, y: 0, style: .heading, limit: canvas.width / 2)
        drawTabs(in: canvas, from: used + 2, to: canvas.width - canvas.text.width(note))
        canvas.write(
            note, x: max(0, canvas.width - canvas.text.width(note)), y: 0, style: Style(.warning, selected: true))
    }

    /// The wrapped hints, if they leave most of the screen to the list.
    private func noteLines(_ canvas: Canvas) -> [String] {
        let lines = browser.options.notes.flatMap { canvas.text.wrapped(tr($0), to: max(1, canvas.width - 2)) }
        return lines.count * 4 <= canvas.height ? lines : []
    }

    /// Draws the tabs around the current entity that fit, and the number of hidden ones.
    private func drawTabs(in canvas: Canvas, from start: Int, to end: Int) {
        let widths = entities.enumerated().map { index, entity in
            canvas.text.width(Self.tabNumber(index) + (entity.name ?? "")) + 2
        }
        let current = entities.firstIndex { $0 === entity } ?? 0
        let shown = Self.tabs(of: widths, around: current, room: end - start)
        tabs = []
        var x = start
        for index in shown {
            let begin = x
            x += canvas.write(Self.tabNumber(index), x: x, y: 0, style: .muted, limit: end - x)
            x += canvas.write(
                entities[index].name ?? "", x: x, y: 0, style: index == current ? Style(.text, selected: true) : .text,
                limit: end - x)
            tabs.append((begin..<x, entities[index]))
            x += 2
        }
        let hidden = entities.count - shown.count
        if hidden > 0 { canvas.write("+\(hidden) (ge)", x: x, y: 0, style: .muted, limit: max(0, end - x)) }
    }

    private static func tabNumber(_ index: Int) -> String { index < 9 ? "\(index + 1) " : "" }

    /// The range of tabs that fits and contains the current one. It starts at the first tab if possible.
    private static func tabs(of widths: [Int], around current: Int, room: Int) -> Range<Int> {
        let whole = widths.reduce(0, +)
        guard whole > room + 2, !widths.isEmpty else { return 0..<widths.count }
        let room = room - "+999 (ge)".count
        var end = current + 1
        var start = current
        var used = widths[current]
        while start > 0, used + widths[start - 1] <= room {
            start -= 1
            used += widths[start]
        }
        while end < widths.count, used + widths[end] <= room {
            used += widths[end]
            end += 1
        }
        return start..<end
    }

    /// The entity whose tab is at a column.
    func entityTab(at x: Int) -> NSEntityDescription? { tabs.first { $0.columns.contains(x) }?.entity }

    /// `200,000 Teams`, or `8,599 of 200,000 Teams` for a filtered list once the total is known.
    private var countText: String {
        let name = entity.name ?? "record"
        guard !records.settings.filter.isEmpty, let total = knownTotal else {
            return CountedNoun.text(records.objectCount, name)
        }
        // The total may be outdated while it is counted again.
        let whole = max(total, records.objectCount)
        return sentence("\(GroupedNumber.text(records.objectCount)) of \(CountedNoun.text(whole, name))")
    }

    /// Draws the status line: the list's settings and the position of the cursor.
    func drawStatus(in canvas: Canvas, y: Int) {
        let settings = records.settings
        var left: [(String, Role)] = [(" \(countText)", .status)]
        let conditions = filter.statusPieces
        left += conditions.map { ($0, .status) }
        if let section = settings.sectionKey {
            let arrow = settings.sectionsAscend ? "" : "↓"
            let title = SectionChoice(keyPath: section, form: settings.sectionForm).title
            left.append((" " + tr(" by %s", arrow + title), .status))
        }
        let arrows = settings.sortKeys.map { ($0.isAscending ? "↑" : "↓") + PropertyTitle.title($0.keyPath) }
        if !arrows.isEmpty { left.append(("  " + tr("sorted %s", arrows.joined(separator: " ")), .status)) }
        var right = statusPieces(canvas.text, namesColumns: true)
        func width(_ pieces: some Sequence<(String, Role)>) -> Int { pieces.reduce(0) { $0 + canvas.text.width($1.0) } }
        // In a narrow line, omit the columns of the match and shorten the searched text, to keep the numbers.
        func excess() -> Int { width(left.prefix(1)) + 1 + width(right) - canvas.width }
        if excess() > 0 { right = statusPieces(canvas.text) }
        if excess() > 0, find.places != nil {
            let whole = min(Self.matchRoom, find.statusWidth(canvas.text))
            right = statusPieces(canvas.text, matchRoom: max(1, whole - excess()))
        }
        let places = StatusLine(left: left, right: right).draw(in: canvas, y: y)
        filter.noteDrawn(Array(places.dropFirst(2).prefix(max(0, conditions.count - 1))), line: y)
    }

    /// Columns of the search text in the status line.
    private static let matchRoom = 20

    /// The right part of the status line: running work, marks, unsaved changes and the cursor's row.
    private func statusPieces(
        _ measure: TextWidth, matchRoom: Int = matchRoom, namesColumns: Bool = false
    ) -> [(String, Role)] {
        var right: [(String, Role)] = []
        if let activity = browser.activity { right.append((" \(activity) ", .warning)) }
        if let work {
            let text = Activity.text(work.saying(), since: work.began)
            right.append((" " + sentence("\(text), Esc stops") + " ", .warning))
        }
        if let livingNote { right.append((" \(livingNote) ", .warning)) }
        if find.isSearching { right.append((" " + sentence("searching \(find.progress) %") + " ", .status)) }
        if let work = browser.work { right.append((" \(work.progress) ", .status)) }
        if !keys.pendingLabel.isEmpty { right.append((" \(keys.pendingLabel)… ", .status)) }
        if let match = find.status(measure, room: matchRoom, namesColumns: namesColumns) {
            right.append((" \(match) ", .status))
        }
        if let range = pendingRange {
            right.append((" " + sentence("range: \(GroupedNumber.text(range.count))") + " ", .status))
        }
        if !marks.isEmpty { right.append((tr(" %s marked ", GroupedNumber.text(marks.objects.count)), .status)) }
        let unsaved = browser.unsavedCount
        if unsaved > 0 { right.append((" *" + tr("%s unsaved", GroupedNumber.text(unsaved)) + " ", .status)) }
        if let number = view.rowNumber {
            right.append((" \(GroupedNumber.text(number))/\(GroupedNumber.text(records.objectCount)) ", .status))
        }
        return right
    }

    private func drawHints(in canvas: Canvas, y: Int) {
        if awaitsIndexLetter {
            let text =
                view.hasHeaders
                ? sentence("section beginning with: \(sectionLetters)")
                : tr("this list has no sections; gs chooses a section key")
            canvas.write(text, x: 0, y: y, style: .key)
            return
        }
        if let text = browser.waitingNote {
            canvas.write(text, x: 0, y: y, style: .warning)
            return
        }
        if find.isSearching, let pattern = find.pattern {
            canvas.write(sentence("searching for “\(pattern.text)”; any key stops"), x: 0, y: y, style: .muted)
            return
        }
        if !keys.pendingLabel.isEmpty { return drawContinuations(in: canvas, y: y) }
        if browser.isPicking { return KeyHints.draw(Browser.pickHints, in: canvas, y: y) }
        let usual = pendingRange == nil ? Self.hints : Self.rangeHints
        let hints = session.isReadOnly ? usual.filter { !Self.editingKeys.contains($0.0) } : usual
        let (shown, kept) = KeyHints.inEffect(
            hints, keeping: pendingRange == nil ? browser.keptHints : ["Space", "Esc"], of: Self.table, in: commands)
        KeyHints.draw(shown, keeping: kept, in: canvas, y: y)
    }

    /// The keys that may follow the pressed ones, with command names. Entities are shown by name.
    private var continuations: [(key: Key, name: String)] {
        commands.continuations(of: keys.pending).compactMap { key, name in
            guard let number = ListCommands.entityNumber(ofCommand: name) else { return (key, tr(name)) }
            return entities.indices.contains(number - 1) ? (key, entities[number - 1].name ?? "") : nil
        }
    }

    /// Draws the keys that may be typed next.
    private func drawContinuations(in canvas: Canvas, y: Int) {
        guard keys.pending.isEmpty, let number = keys.pendingCount else {
            let next = continuations.map { ($0.key.label, $0.name) }
            return KeyHints.draw(next + [("Esc", "cancel")], keeping: [], in: canvas, y: y)
        }
        var hints = [
            ("G", sentence("record \(number)")), ("j k", sentence("\(number) down, up")),
            ("] [", number == 1 ? tr("next, previous section") : sentence("\(number) sections forward, back")),
        ]
        if entities.indices.contains(number - 1) { hints.append(("Enter", entities[number - 1].name ?? "")) }
        KeyHints.draw(hints + [("Esc", "cancel")], in: canvas, y: y)
    }

    /// Shows which key quits, because `^C` does not.
    func sayHowToQuit() {
        let key = commands.label(of: "q", in: Self.table)
        browser.say(key.map { sentence("\($0) quits") } ?? tr(":q quits"))
    }

    /// Hints that are hidden if the store is read-only.
    private static let editingKeys: Set<String> = ["e", "o", "D", "^S"]

    /// Hints shown while a range is unfinished.
    private static let rangeHints = [
        ("?", "help"), ("Space", "mark the range"), ("Esc", "cancel range"), ("q", "quit"),
    ]

    private static let hints = [
        ("?", "help"), ("Enter", "open"), ("e", "edit"), ("o", "add"), ("D", "delete"), ("/", "find"), ("\\", "filter"),
        ("s", "sort"), ("gs", "sections"), ("za", "fold"), ("c", "callbacks"), ("^S", "save"), ("q", "quit"),
    ]

    private func drawEmptyNote(in canvas: Canvas) {
        let plural = CountedNoun.plural(entity.name ?? "record")
        let isFiltered = !records.settings.filter.isEmpty
        let first = isFiltered ? tr("No %s match the filter.", plural) : tr("There are no %s yet.", plural)
        let second =
            isFiltered
            ? "Press \\ to change the filter; an empty one shows all."
            : session.isReadOnly ? "The store is open read-only." : "Press o to add one."
        canvas.write(first, x: 2, y: 2, style: .text)
        canvas.write(tr(second), x: 2, y: 3, style: .muted)
    }

    private func drawCallbacks(in canvas: Canvas) {
        canvas.rule(y: 0)
        canvas.write(tr(" Callbacks of the results controller "), x: 2, y: 0, style: .heading)
        let height = canvas.height - 1
        if log.isEmpty {
            canvas.write(tr("none yet: change a record in this list or another program"), x: 2, y: 1, style: .muted)
        }
        for (row, line) in log.lines(height).enumerated() {
            canvas.fillLine(row + 1, style: .text)
            var x = 0
            for run in line.runs { x += canvas.write(run.text, x: x, y: row + 1, style: Style(run.role)) }
        }
    }
}

extension Browser {
    /// Hints that stay in a narrow line; includes the save key if there are unsaved changes.
    var keptHints: Set<String> { unsavedCount > 0 ? KeyHints.kept.union(["^S"]) : KeyHints.kept }
}

extension CommandTable {
    /// The user's key for the command that has the key `label` in `table`; `nil` if the user removed it.
    func label(of label: String, in table: CommandTable) -> String? {
        guard
            let command = table.commands.first(where: { $0.keys.contains { $0.label == label } }),
            let mine = self.command(named: command.name)
        else { return label }
        return mine.keys.contains { $0.label == label } ? label : mine.keys.first?.label
    }
}

/// The most useful keys, as many as fit in one line.
enum KeyHints {
    /// Keys for help and for leaving, which are shown in any case.
    static let kept: Set<String> = ["?", "q", "Esc"]

    /// Replaces the keys of hints by the user's keys. Hints of commands without a key are dropped.
    ///
    /// - Parameters:
    ///   - kept: the keys whose hints are shown in any case.
    ///   - table: the commands with their default keys, which `hints` use.
    static func inEffect<Target>(
        _ hints: [(key: String, word: String)], keeping kept: Set<String>, of table: CommandTable<Target>,
        in userTable: CommandTable<Target>
    ) -> (hints: [(key: String, word: String)], kept: Set<String>) {
        let labels = hints.map { userTable.label(of: $0.key, in: table) }
        let shown = zip(hints, labels).compactMap { hint, label in label.map { (key: $0, word: hint.word) } }
        return (shown, Set(zip(hints, labels).compactMap { kept.contains($0.key) ? $1 : nil }).union(kept))
    }

    /// - Parameter kept: the keys whose hints are shown in any case. Of the others, the last ones are omitted first.
    static func draw(
        _ hints: [(key: String, word: String)], keeping kept: Set<String> = kept, in canvas: Canvas, y: Int
    ) {
        canvas.fillLine(y, style: .text)
        let hints = hints.map { (key: $0.key, word: tr($0.word)) }
        let widths = hints.map { canvas.text.width($0.key) + 1 + canvas.text.width($0.word) }
        var shown: Set<Int> = []
        var room = canvas.width + gap
        let (first, rest) = (
            hints.indices.filter { kept.contains(hints[$0].key) },
            hints.indices.filter { !kept.contains(hints[$0].key) }
        )
        for index in first + rest where widths[index] + gap <= room {
            room -= widths[index] + gap
            shown.insert(index)
        }
        var x = 0
        for (index, hint) in hints.enumerated() where shown.contains(index) {
            canvas.link(labels: hint.key, x: x, y: y, length: widths[index])
            x += canvas.write(hint.key, x: x, y: y, style: .key)
            x += canvas.write(" \(hint.word)", x: x, y: y, style: .muted) + gap
        }
    }

    /// Columns between two hints.
    private static let gap = 2
}
