import CoreData
import TerminalKit
import Translation

/// Fields that the user and another program changed. For each, the user chooses mine, theirs, or the old value.
final class ConflictScreen: MovingScreen {
    enum Side: CaseIterable {
        case mine, theirs, base
    }

    /// The value chosen for a field.
    struct Choice {
        let object: NSManagedObject
        let key: String
        let value: Any?
    }

    enum Decision {
        case mine, theirs, notNow
        case each([Choice])
    }

    private struct Entry {
        let object: NSManagedObject
        let field: RecordConflict.Field
        let isFirst: Bool
        var side = Side.mine
    }

    /// A line of the box: a record that the user deleted, a record's name above its first field, or a field. Each holds
    /// the index of a deletion or entry.
    private enum Line {
        case deletion(Int)
        case record(Int)
        case field(Int)
    }

    private var entries: [Entry] = []
    /// Records that the user deleted and another program changed: there are no fields to choose from.
    private let deletions: [NSManagedObject]
    /// The lines of all entries, and the line of each entry. Their texts are made when drawn.
    private var lines: [Line] = []
    private var lineOfEntry: [Int] = []
    private let onDecide: (Decision) -> Void
    private(set) var isFinished = false
    private(set) var cursor = 0
    private var top = 0
    private var height = 1
    /// Number of lines that the last frame painted.
    private(set) var paintedLines = 0
    var keys = KeySequenceReader()
    let commands: CommandTable<ConflictScreen>

    init(
        conflicts: [RecordConflict], commands: CommandTable<ConflictScreen>, onDecide: @escaping (Decision) -> Void
    ) {
        self.commands = commands
        self.onDecide = onDecide
        deletions = conflicts.filter(\.fields.isEmpty).map(\.object)
        show(
            conflicts.flatMap { conflict in
                conflict.fields.enumerated().map { Entry(object: conflict.object, field: $1, isFirst: $0 == 0) }
            })
    }

    private func show(_ entries: [Entry]) {
        self.entries = entries
        (lines, lineOfEntry) = (deletions.indices.map { .deletion($0) }, [])
        for (index, entry) in entries.enumerated() {
            if entry.isFirst { lines.append(.record(index)) }
            lineOfEntry.append(lines.count)
            lines.append(.field(index))
        }
        move(by: 0)
    }

    /// Removes records that another program has deleted.
    func forgetDeleted() {
        let left = entries.filter { !$0.object.isDeleted && $0.object.managedObjectContext != nil }
        guard left.count < entries.count else { return }
        show(left)
        if left.isEmpty, deletions.isEmpty { isFinished = true }
    }

    func move(by lines: Int) { cursor = max(0, min(entries.count - 1, cursor + lines)) }

    func move(byPages pages: Double) {
        guard lineOfEntry.indices.contains(cursor) else { return }
        switch lines[max(0, min(lines.count - 1, lineOfEntry[cursor] + Int(pages) * height))] {
        case .record(let entry), .field(let entry): cursor = entry
        case .deletion: cursor = 0
        }
    }

    func moveToStart() { cursor = 0 }

    func moveToEnd() { cursor = max(0, entries.count - 1) }

    /// Selects the next side for the field under the cursor.
    func turn() {
        guard entries.indices.contains(cursor), let place = Side.allCases.firstIndex(of: entries[cursor].side) else {
            return
        }
        entries[cursor].side = Side.allCases[(place + 1) % Side.allCases.count]
    }

    func decide(_ decision: Decision) {
        isFinished = true
        onDecide(decision)
    }

    /// Saves the values chosen for each field.
    func accept() {
        decide(
            .each(
                entries.map { entry in
                    let value =
                        switch entry.side {
                        case .mine: entry.field.mine
                        case .theirs: entry.field.theirs
                        case .base: entry.field.base
                        }
                    return Choice(object: entry.object, key: entry.field.property.name, value: value)
                }))
    }

    static let keysName = "conflicts"
    static let keysRemark = "The keys of the conflict screen."
    static let table = CommandTable(moving + deciding)

    private static let moving = Command<ConflictScreen>.moving(
        "Conflicts", next: "next field", previous: "previous field", first: "first field", last: "last field", tab: true
    )

    private static let deciding: [Command<ConflictScreen>] = [
        Command(
            "turn", keys: "<Space>", category: "Conflicts",
            help: "choose my value, that of the other program, or the old one"
        ) {
            $0.turn()
        },
        Command("save", keys: "s <C-s>", category: "Conflicts", help: "save the chosen values") { $0.accept() },
        Command("mine", keys: "m", category: "Conflicts", help: "save all my values") { $0.decide(.mine) },
        Command("theirs", keys: "t", category: "Conflicts", help: "keep all values of the other program") {
            $0.decide(.theirs)
        },
        Command("not now", keys: "c <Esc> <C-c>", category: "Conflicts", help: "close without saving") {
            $0.decide(.notNow)
        },
    ]

    func handle(_ event: Event) -> Bool {
        guard case .key(let key) = event else { return true }
        _ = run(key)
        return true
    }

    var footer: String? { "Space choose  s save as chosen  m all mine  t all theirs  Esc not now" }

    func draw(in canvas: Canvas) {
        let height = min(canvas.height - 1, lines.count + 4)
        let width = min(canvas.width, max(60, canvas.width * 4 / 5))
        let box = canvas.part(
            x: (canvas.width - width) / 2, y: max(0, (canvas.height - height) / 2), width: width, height: height)
        box.clear()
        box.box(title: tr("Changed by another program too"))
        let room = max(1, height - 4)
        self.height = room
        let cursorLine = lineOfEntry.indices.contains(cursor) ? lineOfEntry[cursor] : 0
        // The first field of a record is below the record's name.
        let head = entries.indices.contains(cursor) && entries[cursor].isFirst ? cursorLine - 1 : cursorLine
        top = max(0, min(top, cursor == 0 ? 0 : head))
        if cursorLine >= top + room { top = cursorLine - room + 1 }
        paintedLines = 0
        for row in 0..<room where top + row < lines.count { draw(lines[top + row], in: box, y: row + 1) }
        var x = 2
        for (key, what) in [("m", "save mine"), ("t", "keep theirs"), ("s", "save as chosen")] {
            x += box.write(key, x: x, y: height - 2, style: .key) + 1
            x += box.write(tr(what), x: x, y: height - 2) + 3
        }
    }

    private func draw(_ line: Line, in box: Canvas, y: Int) {
        paintedLines += 1
        let index: Int
        switch line {
        case .deletion(let index):
            let name = RecordName.lastKnown(deletions[index])
            box.write(sentence("\(name): you deleted it"), x: 2, y: y, style: .heading, limit: box.width - 4)
            return
        case .record(let index):
            box.write(RecordName.text(entries[index].object), x: 2, y: y, style: .heading, limit: box.width - 4)
            return
        case .field(let place): index = place
        }
        let entry = entries[index]
        let inner = box.part(x: 1, y: y, width: box.width - 2, height: 1)
        let isSelected = index == cursor
        inner.fillLine(0, style: Style(.text, selected: isSelected))
        var x = 3
        x += inner.write(
            PropertyTitle.title(entry.field.property.name) + ": ", x: x, y: 0,
            style: Style(.muted, selected: isSelected))
        let sides: [(Side, String, Any?)] = [
            (.mine, "mine", entry.field.mine), (.theirs, "theirs", entry.field.theirs),
            (.base, "before", entry.field.base),
        ]
        for (side, name, value) in sides {
            let isTaken = entry.side == side
            let text = "\(name) \(ValueDisplay.text(value, of: entry.field.property))"
            let sign = isTaken ? inner.symbols.pointer : " "
            x += inner.write("\(sign)", x: x, y: 0, style: Style(.key, selected: isSelected))
            x += inner.write(text + "  ", x: x, y: 0, style: Style(isTaken ? .key : .text, selected: isSelected))
        }
    }
}
