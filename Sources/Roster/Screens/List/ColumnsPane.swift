import CoreData
import TerminalKit
import Translation

/// The columns of a list: visibility, order, width and frozen columns. Changes are visible at once.
final class ColumnsPane: MovingScreen {
    private unowned let list: ListScreen
    private(set) var isFinished = false
    var keys = KeySequenceReader()
    private(set) var cursor = 0
    private var top = 0
    private var height = 1
    private var origin = Point(x: 0, y: 0)

    init(list: ListScreen) {
        self.list = list
        cursor = entries.firstIndex { $0.key == list.focusedKey } ?? 0
    }

    /// A column with its visibility.
    private struct Entry {
        let key: String
        let title: String
        let isShown: Bool
    }

    /// The visible columns in their order, then the others.
    private var entries: [Entry] {
        let shown = list.records.display.columns
        let keys = Set(shown.map(\.key))
        let others = list.entity.properties.filter { !$0.isTransient && !keys.contains($0.name) }
        return shown.map { Entry(key: $0.key, title: $0.title, isShown: true) }
            + others.map { Entry(key: $0.name, title: PropertyTitle.title($0.name), isShown: false) }
    }

    private var current: Entry? { entries.indices.contains(cursor) ? entries[cursor] : nil }

    // MARK: Commands

    func move(by lines: Int) { cursor = max(0, min(entries.count - 1, cursor + lines)) }

    func move(byPages pages: Double) { move(by: Int(pages) * height) }

    func moveToStart() { cursor = 0 }

    func moveToEnd() { cursor = max(0, entries.count - 1) }

    func toggle() {
        guard let current else { return }
        list.setShown(!current.isShown, column: current.key)
        cursor = entries.firstIndex { $0.key == current.key } ?? cursor
    }

    func slide(by step: Int) {
        guard let current, current.isShown else { return }
        list.moveColumn(current.key, by: step)
        cursor = entries.firstIndex { $0.key == current.key } ?? cursor
    }

    func widen(by step: Int) {
        guard let current, current.isShown else { return }
        list.widenColumn(current.key, by: step)
    }

    func freeze() {
        guard let current, current.isShown else { return }
        list.freezeColumns(upTo: current.key)
    }

    func reset() {
        list.arrangeColumns { $0 = ColumnLayout() }
        move(by: 0)
    }

    func close() { isFinished = true }

    static let keysName = "columns"
    static let keysRemark = "The keys of the columns (|)."
    static let table = CommandTable(moving + arranging)
    var commands: CommandTable<ColumnsPane> { list.browser.tables[ColumnsPane.self] }

    private static let moving = Command<ColumnsPane>.moving(
        "Columns", next: "next column", previous: "previous column", first: "first column", last: "last column",
        tab: true)

    private static let arranging: [Command<ColumnsPane>] = [
        Command("show", keys: "<Space>", category: "Columns", help: "show or hide the column") { $0.toggle() },
        Command("forward", keys: "K <S-Up> <S-Left>", category: "Columns", help: "move the column to the left") {
            $0.slide(by: -1)
        },
        Command("backward", keys: "J <S-Down> <S-Right>", category: "Columns", help: "move the column to the right") {
            $0.slide(by: 1)
        },
        Command("wider", keys: "> l <Right>", category: "Columns", help: "make the column wider") { $0.widen(by: 2) },
        Command("narrower", keys: "<lt> h <Left>", category: "Columns", help: "make the column narrower") {
            $0.widen(by: -2)
        },
        Command("freeze", keys: "f", category: "Columns", help: "freeze the columns up to this one") {
            $0.freeze()
        },
        Command("reset", keys: "0", category: "Columns", help: "restore the initial columns") { $0.reset() },
        Command("help", keys: "? <F1>", category: "Columns", help: "this help") { pane in
            pane.list.browser.showHelp(pane.commands, title: "Keys of the columns")
        },
        Command("close", keys: "<Esc> q <Enter> | <C-c>", category: "Columns", help: "back to the list") { $0.close() },
    ]

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key):
            return run(key)
        case .mouse(let mouse):
            let row = mouse.position.y - origin.y
            if mouse.action == .wheelUp { move(by: -1) }
            if mouse.action == .wheelDown { move(by: 1) }
            guard mouse.action == .press, (0..<height).contains(row), top + row < entries.count else { return true }
            cursor = top + row
            toggle()
        default: return false
        }
        return true
    }

    var footer: String? { "Space show or hide  J K move  < > width  f freeze  0 restore  Esc close" }

    func draw(in canvas: Canvas) {
        let entries = entries
        let width = min(canvas.width, 44)
        let boxHeight = min(canvas.height - 2, entries.count + 2)
        guard boxHeight > 2 else { return }
        let box = canvas.part(x: canvas.width - width, y: 1, width: width, height: boxHeight)
        box.clear()
        box.box(title: sentence("Columns of \(list.entity.name ?? "")"))
        height = boxHeight - 2
        top = max(0, min(top, cursor))
        if cursor >= top + height { top = cursor - height + 1 }
        origin = Point(x: box.frame.minX, y: box.frame.minY + 1)
        let layout = list.records.settings.columns
        for row in 0..<height where top + row < entries.count {
            let entry = entries[top + row]
            let line = box.part(x: 1, y: row + 1, width: width - 2, height: 1)
            let isSelected = top + row == cursor
            line.fillLine(0, style: Style(.text, selected: isSelected))
            let sign = entry.isShown ? line.symbols.checked : line.symbols.unchecked
            line.write(sign, x: 1, y: 0, style: Style(.key, selected: isSelected))
            var notes: [String] = []
            if entry.isShown, top + row < layout.frozen { notes.append(tr("frozen")) }
            if let width = layout.widths[entry.key] { notes.append(sentence("\(width) wide")) }
            let note = notes.joined(separator: ", ")
            line.write(
                entry.title, x: 3, y: 0, style: Style(entry.isShown ? .text : .muted, selected: isSelected),
                limit: width - 7 - note.count)
            line.write(note, x: width - 3 - note.count, y: 0, style: Style(.muted, selected: isSelected))
        }
    }
}

extension ListScreen {
    /// Changes the column layout. The focus stays on its column.
    func arrangeColumns(_ change: (inout ColumnLayout) -> Void) {
        let focus = focusedKey
        records.arrangeColumns(change)
        view.columns = records.display.columns.map(\.listColumn)
        view.frozenColumns = records.settings.columns.frozen
        let place = view.columns.firstIndex { $0.id == focus }
        view.focusedColumn = place ?? max(0, min(view.focusedColumn, view.columns.count - 1))
    }

    func setShown(_ isShown: Bool, column key: String) {
        if !isShown, view.columns.count == 1 { return browser.say("cannot hide the last column", role: .warning) }
        let usual = EntityDisplay.usualColumns(of: entity, settings: records.settings)
        arrangeColumns { layout in
            if isShown { layout.show(key, isDefault: usual.contains { $0.key == key }) } else { layout.hide(key) }
        }
    }

    func hideFocusedColumn() {
        let key = focusedKey
        setShown(false, column: key)
        guard !view.columns.contains(where: { $0.id == key }) else { return }
        browser.say(sentence("\(PropertyTitle.title(key)) is hidden; | shows the columns"))
    }

    func moveColumn(_ key: String, by step: Int) {
        let shown = view.columns.map(\.id)
        arrangeColumns { $0.move(key, by: step, among: shown) }
    }

    func widenColumn(_ key: String, by step: Int) {
        let width = view.shownWidth(ofColumn: key) ?? 12
        arrangeColumns { $0.widen(key, by: step, from: width) }
    }

    /// Freezes the columns up to `key` at the left. If exactly these are frozen, only the first one stays, or none.
    func freezeColumns(upTo key: String) {
        guard let place = view.columns.firstIndex(where: { $0.id == key }) else { return }
        let isSo = records.settings.columns.frozen == place + 1
        let count = isSo ? min(1, place) : place + 1
        freezeColumns(count)
    }

    /// Freezes a column as the last frozen one, so that it is visible together with any other.
    func pinColumn(_ key: String) {
        let count = max(0, min(records.settings.columns.frozen, view.columns.count))
        guard let place = view.columns.firstIndex(where: { $0.id == key }) else { return }
        guard place >= count else { return freezeColumns(count) }
        moveColumn(key, by: count - place)
        freezeColumns(count + 1)
    }

    private func freezeColumns(_ count: Int) {
        arrangeColumns { $0.frozenCount = count }
        guard count > 0 else { return browser.say("no frozen columns") }
        let counted = CountedNoun.text(count, "column")
        browser.say(sentence("\(counted) frozen"))
    }
}
