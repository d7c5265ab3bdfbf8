import CoreData
import Foundation
import TerminalKit
import Translation

/// Shows one record and lets the user follow its relationships; a screen of its own, or a pane next to the list.
///
/// Reads the current state of the record, including changes of other programs. As a screen it leaves the list visible
/// on the left if there is room; as a pane it shows the record under the list's cursor.
final class DetailScreen: MovingScreen {
    /// Number of rows searched for the property that the cursor was on.
    private static let longestSearch = 1000

    private static let hints = [
        ("?", "help"), ("Enter", "follow"), ("Esc", "back"), ("e", "edit"), ("D", "delete"), ("u", "undo"),
        ("^S", "save"),
        ("q", "list"),
    ]

    /// Hints that are hidden if the store is read-only.
    private static let editingKeys: Set<String> = ["e", "D", "u", "^S"]

    unowned let browser: Browser
    let session: StoreSession
    /// True for a pane next to the list that follows the list's cursor.
    let isPane: Bool
    /// The records followed so far; the last one is shown.
    private(set) var trail: [(object: NSManagedObject, cursor: Int)]
    private(set) var isFinished = false
    private(set) var rows = RecordRows()
    /// Paths of lines that the user unfolded or folded, contrary to the default.
    private var unfolded: Set<String> = []
    /// The state that was drawn last. Nothing is read again until it changes.
    private var drawn: (object: ObjectIdentifier, revision: Int, width: Int)?
    var searchText: String?
    var keys = KeySequenceReader()
    private var top = 0
    private(set) var height = 1
    private var valueWidth = 40
    private var origin = Point(x: 0, y: 0)
    private var frame = Rect(x: 0, y: 0, width: 0, height: 0)
    /// Called when the user leaves the pane.
    var onLeave: () -> Void = {}
    /// Called when the user closes the pane.
    var onClose: () -> Void = {}

    init(browser: Browser, session: StoreSession, object: NSManagedObject, isPane: Bool = false) {
        self.browser = browser
        self.session = session
        self.isPane = isPane
        trail = [(object, 0)]
        reload()
    }

    var object: NSManagedObject { trail[trail.count - 1].object }

    /// The row under the cursor's bar.
    var cursor: Int {
        get { trail[trail.count - 1].cursor }
        set {
            rows.reach(newValue == .max ? newValue : newValue + 1)
            trail[trail.count - 1].cursor = max(0, min(newValue, rows.known.count - 1))
        }
    }

    private var lines: [RecordLine] { rows.lines }

    var current: RecordLine? { rows.known.indices.contains(cursor) ? lines[rows.known[cursor].line] : nil }

    /// True if the record was not deleted.
    var isAlive: Bool { !object.isDeleted && object.managedObjectContext != nil }

    /// Shows another record; the cursor stays on the same property.
    func show(_ other: NSManagedObject) {
        guard other !== trail[0].object else { return }
        let path = current?.path
        trail = [(other, 0)]
        reload()
        // A property more than `longestSearch` rows down is not found: the cursor stays at the top.
        guard let path else { return }
        if let row = rows.first(after: -1, before: Self.longestSearch, where: { $0.path == path && $1.isFirst }) {
            cursor = row
        }
    }

    // MARK: Contents

    private func reload(text: TextWidth = TextWidth()) {
        // Keeps the shown values while the record cannot be read.
        if drawn?.object == ObjectIdentifier(object), object.isFault, session.isConnectionLost { return }
        drawn = (ObjectIdentifier(object), session.revision, valueWidth)
        rows = RecordRows(isAlive ? recordLines.lines(of: object) : [], width: valueWidth, text: text)
        // Limits the cursor to the number of rows.
        let wanted = cursor
        cursor = wanted
    }

    private var recordLines: RecordLines {
        RecordLines(
            unfolded: unfolded, width: valueWidth, preferences: browser.options.preferences.entities,
            showsPictures: browser.canShowPictures())
    }

    // MARK: Following

    /// Opens the related record of the current line, or unfolds a value with parts.
    func follow() {
        guard let line = current else { return }
        if let target = line.target {
            go(to: target)
        } else if line.isMore || (line.property as? NSRelationshipDescription)?.isToMany == true && line.depth == 0 {
            pickDestination(of: line.property)
        } else if line.fold != nil {
            toggleFold()
        } else {
            browser.say(sentence("\(line.title) is empty; e edits it"))
        }
    }

    func toggleFold() {
        guard let line = current else { return }
        guard line.fold != nil || line.target != nil else { return browser.say("this line has nothing to unfold") }
        if unfolded.remove(line.path) == nil { unfolded.insert(line.path) }
        reload()
        // Scrolls to show as many of the unfolded rows as fit below the line.
        rows.reach(cursor + 1 + height)
        let beneath = rows.known.dropFirst(cursor + 1).prefix(height).prefix { row in
            ["/", "#"].contains { lines[row.line].path.hasPrefix(line.path + $0) }
        }.count
        top = max(top, min(cursor, cursor + beneath - height + 1))
    }

    private func go(to target: NSManagedObject) {
        trail.append((target, 0))
        top = 0
        unfolded = []
        reload()
    }

    private func pickDestination(of property: NSPropertyDescription) {
        guard let relationship = property as? NSRelationshipDescription else { return }
        let related = RelatedRecords(object: object, relationship: relationship)
        let count = related.count()
        guard count > 0 else { return browser.say(sentence("\(PropertyTitle.title(property.name)) is empty")) }
        let title = PropertyTitle.title(property.name)
        if let predicate = related.predicate, count > 500, let entity = relationship.destinationEntity {
            let source = RecordPickerSource(
                entity: entity, session: session, chosen: [], among: predicate,
                onDisplay: { [unowned browser] in browser.needsDisplay = true })
            browser.layers.push(
                Picker(title: title, source: source) { [unowned self] in go(to: source.object(at: $0)) })
            return
        }
        let objects = ValueDisplay.destinations(object.value(forKey: property.name))
        browser.layers.push(
            Picker(title: title, items: objects.map { (text: RecordName.text($0), detail: "") }) { [unowned self] in
                go(to: objects[$0])
            })
    }

    /// Returns to the previous record, or from the first one to the list.
    func goBack() {
        if trail.count > 1 {
            trail.removeLast()
            top = 0
            reload()
        } else {
            leave()
        }
    }

    /// Returns the focus to the list. A pane stays open.
    func leave() { if isPane { onLeave() } else { isFinished = true } }

    func close() { if isPane { onClose() } else { isFinished = true } }

    // MARK: Finding

    func askForSearch() {
        let start = cursor
        let prompt = Prompt(
            label: "find: ", history: browser.searchHistory,
            hint: "in this record; Enter keeps the match, then n N find the next")
        prompt.onChange = { [unowned self] text in
            searchText = text.isEmpty ? nil : text
            cursor = start
            findNext(forward: true, from: start - 1)
        }
        prompt.onAccept = { [unowned self] text in
            browser.rememberSearch(text)
            if !text.isEmpty, rows.first(after: -1, where: isMatch) == nil {
                browser.say(sentence("“\(text)” not found"), role: .warning)
            }
            return nil
        }
        prompt.onCancel = { [unowned self] in
            searchText = nil
            cursor = start
        }
        browser.layers.push(prompt)
    }

    private func isMatch(_ line: RecordLine, _ row: RecordRows.Row) -> Bool {
        matchesSearch(line.title) || matchesSearch(row.text)
    }

    /// Moves to the next row that contains the search text, wrapping around at the end.
    func findNext(forward: Bool, from start: Int? = nil) {
        guard searchText != nil else { return browser.say("nothing searched yet: press /") }
        let start = start ?? cursor
        let next =
            forward ? rows.first(after: start, where: isMatch) : rows.last(before: start, where: isMatch)
        if let next { cursor = next }
    }

    // MARK: Editing

    func edit(focusing: Bool) {
        guard isAlive else { return browser.say("the record was deleted") }
        RecordForm.open(
            in: browser, session: session, object: object, entity: object.entity,
            focus: focusing ? current?.property.name : nil)
    }

    func delete() {
        guard isAlive else { return browser.say("the record was deleted") }
        browser.askToDelete([object]) { [unowned self] in goBack() }
    }

    // MARK: Events

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return run(key) { browser.say($0, role: .warning) }
        case .mouse(let mouse):
            handle(mouse)
            return true
        default: return false
        }
    }

    /// True if a point of the screen is in the pane.
    func contains(_ point: Point) -> Bool { frame.contains(point) }

    private func handle(_ mouse: MouseEvent) {
        switch mouse.action {
        case .wheelUp: cursor -= 3
        case .wheelDown: cursor += 3
        case .press, .doubleClick:
            let row = mouse.position.y - origin.y
            guard mouse.position.x >= origin.x else { return leave() }
            guard (0..<height).contains(row), rows.known.indices.contains(top + row) else { return }
            if cursor == top + row, current?.target != nil || current?.fold != nil {
                follow()
            } else {
                cursor = top + row
            }
        }
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        let isWide = canvas.width >= 100
        let width = isWide ? max(50, canvas.width / 2) : canvas.width
        // The list's status line and a line for hints and messages stay visible at the bottom.
        let below = canvas.height >= 12 ? 2 : 1
        draw(
            inPane: canvas.part(
                x: canvas.width - width, y: isWide ? 1 : 0, width: width,
                height: canvas.height - below - (isWide ? 1 : 0)),
            isFocused: true)
        // Redraw the status line: other layers, such as the history, may be between the list and this screen.
        browser.list?.drawStatus(in: canvas, y: canvas.height - below)
        if below == 2 { drawHints(in: canvas) }
    }

    func drawHints(in canvas: Canvas) {
        let hints = session.isReadOnly ? Self.hints.filter { !Self.editingKeys.contains($0.0) } : Self.hints
        draw(hints, keeping: browser.keptHints, in: canvas)
    }

    /// Draws the record in a frame.
    ///
    /// - Parameter isFocused: true if the record receives the keys.
    func draw(inPane pane: Canvas, isFocused: Bool) {
        frame = pane.frame
        let widest = lines.map { pane.text.width($0.title) + 2 * $0.depth }.max() ?? 0
        let labelWidth = min(pane.width / 3, widest + 1)
        let width = max(8, pane.width - labelWidth - 5)
        if drawn.map({ $0 != (ObjectIdentifier(object), session.revision, width) }) ?? true || !isAlive {
            valueWidth = width
            reload(text: pane.text)
        }
        pane.clear()
        pane.box(title: trail.map { RecordName.text($0.object) }.joined(separator: " › "))
        height = max(1, pane.height - 2)
        origin = Point(x: pane.frame.minX, y: pane.frame.minY + 1)
        top = max(0, min(top, cursor))
        if cursor >= top + height { top = cursor - height + 1 }
        rows.reach(top + height + 1)
        if lines.isEmpty { pane.write(tr("This record was deleted. Esc goes back."), x: 2, y: 1, style: .warning) }
        for row in 0..<height where top + row < rows.known.count {
            drawRow(top + row, isSelected: isFocused && top + row == cursor, in: pane, y: row + 1, labelWidth)
        }
        pane.write(" \(RecordName.fallback(object)) ", x: 2, y: pane.height - 1, style: .muted, limit: pane.width - 4)
        let count = rows.known.count
        if count > height {
            let place = " \(min(count, top + height))/\(count)\(rows.isComplete ? "" : "+") "
            pane.write(place, x: pane.width - place.count - 2, y: pane.height - 1, style: .muted)
        }
    }

    private func drawRow(_ index: Int, isSelected: Bool, in pane: Canvas, y: Int, _ labelWidth: Int) {
        let row = rows.known[index]
        let line = lines[row.line]
        let inner = pane.part(x: 1, y: y, width: pane.width - 2, height: 1)
        inner.fillLine(0, style: Style(.text, selected: isSelected))
        let indent = 2 * line.depth
        let label = row.isFirst ? line.title : ""
        inner.write(
            pane.text.padded(label, to: labelWidth, alignment: .right), x: 0, y: 0,
            style: Style(.muted, selected: isSelected))
        if row.isFirst, let fold = line.fold {
            inner.write(
                fold == .open ? inner.symbols.foldOpen : inner.symbols.foldClosed, x: labelWidth + indent, y: 0,
                style: Style(.key, selected: isSelected))
        }
        let x = labelWidth + 2 + indent
        // A picture would cover the layers above this one.
        if let picture = line.picture, let header = PictureHeader(picture),
            browser.layers.layers.count <= (isPane ? 1 : 2)
        {
            let area = PictureArea(header, width: valueWidth)
            let room = pane.part(x: 1 + x, y: y, width: area.width, height: min(area.height, pane.height - 1 - y))
            room.place(png: picture, x: 0, y: 0, width: area.width, height: area.height)
        }
        let role: Role = matchesSearch(row.text) ? .match : line.role
        inner.write(row.text, x: x, y: 0, style: Style(role, selected: isSelected))
    }

    private func matchesSearch(_ text: String) -> Bool {
        guard let searchText else { return false }
        return text.range(of: searchText, options: [.caseInsensitive, .diacriticInsensitive]) != nil
    }
}
