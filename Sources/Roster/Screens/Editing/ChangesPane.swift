import CoreData
import Foundation
import TerminalKit
import Translation

/// The unsaved changes by record and field. Each change can be dropped.
final class ChangesPane: MovingScreen, KeyHelping {
    private struct Entry {
        let object: NSManagedObject
        /// The changed field; `nil` for the record itself.
        let key: String?
        let text: String
        let role: Role
        /// True if another program deleted the record and the user has not decided about the edit yet.
        var isLost = false
    }

    /// A line of the pane: the number of a record and of one of its lines.
    private struct Place: Comparable {
        var record = 0
        var line = 0

        static func < (left: Place, right: Place) -> Bool { (left.record, left.line) < (right.record, right.line) }
    }

    private unowned let browser: Browser
    private let session: StoreSession
    private(set) var isFinished = false
    private var cursor = Place()
    private var top = Place()
    private var height = 1
    var keys = KeySequenceReader()
    /// The records with unsaved changes.
    private var objects: [NSManagedObject] = []
    /// The sorted blocks of records that were needed so far, if there are many.
    private var blocks: [Int: [NSManagedObject]] = [:]
    /// The lines of the records that were needed so far.
    private var known: [Int: [Entry]] = [:]
    private var revision = -1

    /// True for too many records to sort at once: they are in order of change, and only sorted within blocks.
    private var areMany: Bool { objects.count > browser.limits.changesSortedAtOnce }

    /// Number of records whose lines were built since the contents last changed.
    var readCount: Int { known.count }

    init(browser: Browser, session: StoreSession) {
        self.browser = browser
        self.session = session
        reload()
    }

    // MARK: Contents

    private func reload() {
        session.context.processPendingChanges()
        revision = session.revision
        (blocks, known) = ([:], [:])
        objects = session.unsavedObjects
        if !areMany {
            func group(_ object: NSManagedObject) -> Int { object.isInserted ? 0 : object.isDeleted ? 2 : 1 }
            let groups = Dictionary(grouping: objects, by: group)
            objects = (0...2).flatMap { sorted(groups[$0] ?? []) }
        }
        move(by: 0)
    }

    private var recordCount: Int { objects.count + browser.lostEdits.count }

    private func sorted(_ objects: some Sequence<NSManagedObject>) -> [NSManagedObject] {
        objects.map { (name: ($0.entity.name ?? "", RecordName.lastKnown($0)), object: $0) }
            .sorted { $0.name < $1.name }.map(\.object)
    }

    private func object(at record: Int) -> NSManagedObject {
        guard areMany else { return objects[record] }
        let size = browser.limits.changesBlock
        let block = record / size
        let start = block * size
        if let known = blocks[block] { return known[record - start] }
        let made = sorted(objects[start..<min(objects.count, start + size)])
        blocks[block] = made
        return made[record - start]
    }

    /// The lines of a record; at least one.
    private func entries(at record: Int) -> [Entry] {
        if let lines = known[record] { return lines }
        if known.count > browser.limits.changesSortedAtOnce { known = [:] }
        let lines =
            record < objects.count
            ? entries(of: object(at: record)) : entries(of: browser.lostEdits[record - objects.count])
        known[record] = lines
        return lines
    }

    private func entries(of object: NSManagedObject) -> [Entry] {
        if object.isDeleted {
            let text = "− \(object.entity.name ?? "") \(RecordName.lastKnown(object))"
            return [Entry(object: object, key: nil, text: text, role: .error)]
        }
        if object.isInserted { return entries(of: object, sign: "+", role: .inserted) }
        let isContested = browser.contested.contains(object)
        return entries(of: object, sign: isContested ? "!" : "~", role: isContested ? .warning : .updated)
    }

    private func entries(of lost: LostEdit) -> [Entry] {
        let head = sentence("\(lost.object.entity.name ?? "") \(lost.name): another program deleted it")
        return [
            Entry(object: lost.object, key: nil, text: "! \(head)", role: .warning, isLost: true),
            Entry(object: lost.object, key: nil, text: "    \(lost.fields)", role: .text, isLost: true),
        ]
    }

    private func entries(of object: NSManagedObject, sign: String, role: Role) -> [Entry] {
        let head = Entry(
            object: object, key: nil, text: "\(sign) \(object.entity.name ?? "") \(RecordName.text(object))", role: role
        )
        let changed = object.changedValues()
        let old = object.isInserted ? [:] : object.committedValues(forKeys: Array(changed.keys))
        let fields = changed.keys.sorted().compactMap { key -> Entry? in
            guard let property = object.entity.propertiesByName[key], !property.isTransient else { return nil }
            let new = ValueDisplay.text(changed[key], of: property)
            let before = object.isInserted ? "" : ValueDisplay.text(old[key], of: property) + " → "
            let title = PropertyTitle.title(key)
            return Entry(object: object, key: key, text: "    \(title): \(before)\(new)", role: .text)
        }
        return [head] + fields
    }

    private var current: Entry? { entry(at: cursor) }

    private func entry(at place: Place) -> Entry? {
        guard place.record < recordCount else { return nil }
        let lines = entries(at: place.record)
        return lines.indices.contains(place.line) ? lines[place.line] : nil
    }

    /// The line `step` lines after or before `start`, limited to the first and the last line.
    private func place(_ step: Int, from start: Place) -> Place {
        guard recordCount > 0 else { return Place() }
        var place = start
        if place.record >= recordCount { place = Place(record: recordCount - 1, line: .max) }
        place.line = min(place.line, entries(at: place.record).count - 1) + step
        while place.line < 0, place.record > 0 {
            place.record -= 1
            place.line += entries(at: place.record).count
        }
        while place.line >= entries(at: place.record).count, place.record < recordCount - 1 {
            place.line -= entries(at: place.record).count
            place.record += 1
        }
        place.line = max(0, min(place.line, entries(at: place.record).count - 1))
        return place
    }

    // MARK: Commands

    func move(by lines: Int) { cursor = place(lines, from: cursor) }

    func move(byPages pages: Double) { move(by: Int(pages) * height) }

    func moveToStart() { cursor = Place() }

    func moveToEnd() { cursor = place(0, from: Place(record: recordCount, line: 0)) }

    /// Drops the change under the cursor: one field, or all changes of a record.
    func drop() {
        guard let current else { return }
        let object = current.object
        let name = RecordName.short(RecordName.lastKnown(object))
        let context = session.context
        if current.isLost {
            browser.lostEdits.removeAll { $0.object === object }
        } else if let key = current.key, !object.isInserted {
            browser.edit(sentence("drop \(PropertyTitle.title(key)) of \(name)")) { _ in Self.restore([key], of: object)
            }
        } else if object.isDeleted {
            browser.edit(sentence("keep \(name)")) { context in context.insert(object) }
        } else if object.isInserted, let key = current.key {
            browser.say(
                sentence(
                    "\(PropertyTitle.title(key)) belongs to a new record: e edits it; x on the first line drops the record"
                ))
            return
        } else if object.isInserted {
            browser.edit(sentence("drop \(name)")) { $0.delete(object) }
        } else {
            browser.edit(sentence("drop changes of \(name)")) { _ in
                Self.restore(Array(object.changedValues().keys), of: object)
            }
        }
        context.processPendingChanges()
        reload()
    }

    /// Sets fields to the values in the store.
    private static func restore(_ keys: [String], of object: NSManagedObject) {
        let old = object.committedValues(forKeys: keys)
        for key in keys {
            let value = old[key]
            object.setValue(value is NSNull ? nil : value, forKey: key)
        }
    }

    func goToRecord() {
        guard let current, !current.isLost, !current.object.isDeleted, let list = browser.list else { return }
        guard list.records.path(of: current.object) != nil else {
            return browser.layers.push(DetailScreen(browser: browser, session: session, object: current.object))
        }
        isFinished = true
        list.moveCursor(to: current.object)
    }

    func edit() {
        guard let current, !current.isLost, !current.object.isDeleted else { return }
        RecordForm.open(
            in: browser, session: session, object: current.object, entity: current.object.entity, focus: current.key)
    }

    func save() {
        isFinished = true
        browser.save()
    }

    func undo() { browser.undo() }
    func redo() { browser.redo() }
    func close() { isFinished = true }

    static let keysName = "changes"
    static let keysRemark = "Keys of the list of unsaved changes (gu)."
    static let table = CommandTable(moving + changing)
    var commands: CommandTable<ChangesPane> { browser.tables[ChangesPane.self] }

    private static let moving = Command<ChangesPane>.moving(
        "Changes", next: "next change", previous: "previous change", first: "first change", last: "last change",
        tab: true
    )

    private static let changing: [Command<ChangesPane>] = [
        Command("drop", keys: "x d <Delete>", category: "Changes", help: "drop the change of the field or record") {
            $0.drop()
        },
        Command("go to", keys: "<Enter>", category: "Changes", help: "open the record") { $0.goToRecord() },
        Command("edit", keys: "e", category: "Changes", help: "edit the record") { $0.edit() },
        Command("undo", keys: "u", category: "Changes", help: "undo the last edit") { $0.undo() },
        Command("redo", keys: "<C-r> U", category: "Changes", help: "redo the last undone edit") { $0.redo() },
        Command("save", keys: "<C-s>", category: "Changes", help: "save all changes") { $0.save() },
        Command("close", keys: "<Esc> q <C-c>", category: "Changes", help: "back to the list") { $0.close() },
    ]

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { keyHelp("Keys of the changes") }

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key):
            return run(key)
        case .mouse(let mouse):
            if mouse.action == .wheelUp { move(by: -3) }
            if mouse.action == .wheelDown { move(by: 3) }
            if mouse.action == .press, mouse.position.y > 0 {
                let pressed = place(mouse.position.y - 1, from: top)
                if mouse.position.y - 1 < height { cursor = pressed }
            }
        default: return false
        }
        return true
    }

    func draw(in canvas: Canvas) {
        if revision != session.revision { reload() }
        canvas.clear()
        height = max(1, canvas.height - 2)
        let count = CountedNoun.text(browser.unsavedCount, "record")
        let place = "\(GroupedNumber.text(cursor.record + 1))/\(GroupedNumber.text(recordCount))"
        StatusLine(
            left: [(sentence(" Not saved: \(count)"), .status)],
            right: areMany ? [(" \(place) ", .status)] : []
        ).draw(in: canvas, y: 0)
        top = max(self.place(1 - height, from: cursor), min(top, cursor))
        if recordCount == 0 { canvas.write(tr("Everything is saved."), x: 2, y: 1, style: .muted) }
        var next = top
        for row in 0..<height {
            guard let entry = entry(at: next) else { break }
            let style = Style(entry.role, selected: next == cursor)
            canvas.fillLine(row + 1, style: Style(.text, selected: next == cursor))
            canvas.write(entry.text, x: 1, y: row + 1, style: style)
            let following = self.place(1, from: next)
            if following == next { break }
            next = following
        }
        let hints = [
            ("x", "drop"), ("Enter", "go to"), ("e", "edit"), ("u", "undo"), ("^S", "save"), ("Esc", "back"),
        ]
        draw(hints, in: canvas)
    }
}
