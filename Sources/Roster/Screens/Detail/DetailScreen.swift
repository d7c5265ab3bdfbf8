import CoreData
import Foundation
import TerminalKit

/// One record with its relationships, which can be followed and left again.
///
/// Painted from the record as it is now, so that changes of other programs are seen at once. On a wide screen it leaves
/// the list visible on the left.
final class DetailScreen: Layer {
    /// One line: a property, or a record that a relationship leads to.
    struct Line {
        let property: NSPropertyDescription
        let title: String
        let value: String
        let role: Role
        /// The record that Enter goes to.
        var target: NSManagedObject?
        /// Set on the line that stands for more records than are shown.
        var isMore = false
    }

    private static let hints = [
        ("?", "help"), ("Enter", "follow"), ("Esc", "back"), ("e", "edit"), ("D", "delete"), ("u", "undo"),
        ("^S", "save"),
        ("q", "list"),
    ]

    /// Hints that mean nothing where nothing can be changed.
    private static let editingKeys: Set<String> = ["e", "D", "u", "^S"]

    /// How many records of a relationship are listed before a line that opens all of them.
    private static let listedRecords = 12

    unowned let browser: Browser
    let session: StoreSession
    /// The records on the way here; the last one is shown.
    private(set) var trail: [(object: NSManagedObject, cursor: Int)]
    private(set) var isFinished = false
    private(set) var lines: [Line] = []
    var keys = KeySequenceReader()
    private var top = 0
    private(set) var height = 1
    private var origin = Point(x: 0, y: 0)

    init(browser: Browser, session: StoreSession, object: NSManagedObject) {
        self.browser = browser
        self.session = session
        trail = [(object, 0)]
        reload()
    }

    var object: NSManagedObject { trail[trail.count - 1].object }

    var cursor: Int {
        get { trail[trail.count - 1].cursor }
        set { trail[trail.count - 1].cursor = max(0, min(newValue, lines.count - 1)) }
    }

    var current: Line? { lines.indices.contains(cursor) ? lines[cursor] : nil }

    /// Whether the record is still there.
    private var isAlive: Bool { !object.isDeleted && object.managedObjectContext != nil }

    // MARK: Contents

    private func reload() {
        guard isAlive else {
            lines = []
            return
        }
        let properties = object.entity.properties
        let label = EntityDisplay.label(of: object.entity)
        let attributes = properties.compactMap { $0 as? NSAttributeDescription }
        let ordered: [NSPropertyDescription] =
            attributes.filter { $0 === label } + attributes.filter { $0 !== label }
            + properties.compactMap { $0 as? NSRelationshipDescription }
        lines = ordered.flatMap(lines(for:))
        cursor = min(cursor, max(0, lines.count - 1))
    }

    private func lines(for property: NSPropertyDescription) -> [Line] {
        let title = PropertyTitle.title(property.name)
        let value = object.value(forKey: property.name)
        let isChanged = object.changedValues()[property.name] != nil
        guard let relationship = property as? NSRelationshipDescription else {
            let formats = browser.options.preferences.entities[object.entity.name ?? ""]?.formats
            let text = formats?[property.name]?.text(of: value) ?? ValueDisplay.text(value, of: property)
            let role: Role = isChanged ? .edited : (text == ValueDisplay.nothing ? .muted : .text)
            return [Line(property: property, title: title, value: text, role: role)]
        }
        let objects = ValueDisplay.destinations(value)
        guard relationship.isToMany else {
            let text = objects.first.map { RecordName.text($0) } ?? ValueDisplay.nothing
            let role: Role = objects.isEmpty ? .muted : (isChanged ? .edited : .link)
            return [Line(property: property, title: title, value: text, role: role, target: objects.first)]
        }
        let count = DeletePlan.counted(objects.count, relationship.destinationEntity?.name ?? "record")
        var lines = [Line(property: property, title: title, value: count, role: isChanged ? .edited : .muted)]
        for other in objects.prefix(Self.listedRecords) {
            lines.append(Line(property: property, title: "", value: RecordName.text(other), role: .link, target: other))
        }
        if objects.count > Self.listedRecords {
            lines.append(
                Line(property: property, title: "", value: "all \(objects.count)…", role: .key, isMore: true))
        }
        return lines
    }

    // MARK: Following

    /// Goes to the record that the current line leads to.
    func follow() {
        guard let line = current else { return }
        if let target = line.target {
            go(to: target)
        } else if line.isMore || (line.property as? NSRelationshipDescription)?.isToMany == true {
            pickDestination(of: line.property)
        } else {
            browser.say("\(line.title) leads nowhere; e edits it")
        }
    }

    private func go(to target: NSManagedObject) {
        trail.append((target, 0))
        top = 0
        reload()
    }

    private func pickDestination(of property: NSPropertyDescription) {
        let objects = ValueDisplay.destinations(object.value(forKey: property.name))
        guard !objects.isEmpty else { return browser.say("\(PropertyTitle.title(property.name)) is empty") }
        browser.layers.push(
            Picker(
                title: PropertyTitle.title(property.name),
                items: objects.map { (text: RecordName.text($0), detail: "") }
            ) { [unowned self] in go(to: objects[$0]) })
    }

    /// Goes back to the record before; from the first one, to the list.
    func goBack() {
        if trail.count > 1 {
            trail.removeLast()
            top = 0
            reload()
        } else {
            close()
        }
    }

    func close() { isFinished = true }

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
        case .key(let key):
            switch keys.read(key, in: browser.tables.record) {
            case .command(let command):
                if let reason = command.unavailable(self) {
                    browser.say(reason, role: .warning)
                } else {
                    command.action(self)
                }
                return true
            case .prefix: return true
            case .none: return false
            }
        case .mouse(let mouse):
            handle(mouse)
            return true
        default: return false
        }
    }

    private func handle(_ mouse: MouseEvent) {
        switch mouse.action {
        case .wheelUp: cursor -= 3
        case .wheelDown: cursor += 3
        case .press, .doubleClick:
            let row = mouse.position.y - origin.y
            guard mouse.position.x >= origin.x else { return close() }
            guard (0..<height).contains(row), lines.indices.contains(top + row) else { return }
            if cursor == top + row, current?.target != nil { follow() } else { cursor = top + row }
        }
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        reload()
        let isWide = canvas.width >= 100
        let width = isWide ? max(50, canvas.width / 2) : canvas.width
        // The list's status line, and a line for hints and messages, stay beneath.
        let below = canvas.height >= 12 ? 2 : 1
        let pane = canvas.part(
            x: canvas.width - width, y: isWide ? 1 : 0, width: width, height: canvas.height - below - (isWide ? 1 : 0))
        pane.clear()
        pane.box(title: trail.map { RecordName.text($0.object) }.joined(separator: " › "))
        height = max(1, pane.height - 2)
        origin = Point(x: pane.frame.minX, y: pane.frame.minY + 1)
        top = max(0, min(top, cursor))
        if cursor >= top + height { top = cursor - height + 1 }
        let labelWidth = min(pane.width / 3, (lines.map { canvas.text.width($0.title) }.max() ?? 0) + 1)
        if lines.isEmpty { pane.write("This record was deleted. Esc goes back.", x: 2, y: 1, style: .warning) }
        for row in 0..<height where top + row < lines.count {
            drawLine(lines[top + row], isSelected: top + row == cursor, in: pane, y: row + 1, labelWidth: labelWidth)
        }
        pane.write(" \(RecordName.fallback(object)) ", x: 2, y: pane.height - 1, style: .muted, limit: pane.width - 4)
        guard below == 2 else { return }
        let hints = session.isReadOnly ? Self.hints.filter { !Self.editingKeys.contains($0.0) } : Self.hints
        KeyHints.draw(hints, in: canvas, y: canvas.height - 1)
    }

    private func drawLine(_ line: Line, isSelected: Bool, in pane: Canvas, y: Int, labelWidth: Int) {
        let inner = pane.part(x: 1, y: y, width: pane.width - 2, height: 1)
        inner.fillLine(0, style: Style(.text, selected: isSelected))
        inner.write(
            pane.text.padded(line.title, to: labelWidth, alignment: .right), x: 0, y: 0,
            style: Style(.muted, selected: isSelected))
        inner.write(line.value, x: labelWidth + 2, y: 0, style: Style(line.role, selected: isSelected))
    }
}
