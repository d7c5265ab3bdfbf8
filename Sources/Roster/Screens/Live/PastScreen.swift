import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The list as it was right after a transaction of the history, shown over the history pane.
final class PastScreen: ColumnScreen {
    private let pane: HistoryPane
    private let session: StoreSession
    private unowned let browser: Browser
    private(set) var isFinished = false
    private(set) var list: PastList
    private(set) var view: SectionedList
    var keys = KeySequenceReader(readsCounts: true)
    /// The revision of the session at which the values were read.
    private var revision = 0

    init(pane: HistoryPane, session: StoreSession, list: PastList) {
        self.pane = pane
        self.session = session
        self.list = list
        browser = pane.browser
        view = SectionedList(source: list, columns: [])
        take(list, folded: browser.list?.view.folded ?? [], cursor: browser.list?.cursorObject?.objectID)
    }

    /// Shows a list. The cursor moves to the given record if the list contains it; the focus stays on its column.
    private func take(_ list: PastList, folded: Set<String>, cursor: NSManagedObjectID?) {
        let focus = view.columns.indices.contains(view.focusedColumn) ? view.columns[view.focusedColumn].id : ""
        self.list = list
        revision = session.revision
        view = SectionedList(source: list, columns: list.columns)
        view.hasHeaders = list.records.settings.sectionKey != nil
        view.frozenColumns = list.records.settings.columns.frozen
        view.barCoversLine = browser.options.preferences.barCoversLine
        view.titleSuffix = { [unowned list] column in ListScreen.sortMark(of: column, in: list.records.settings) }
        view.reset()
        view.restoreFolds(folded)
        view.focusedColumn = view.columns.firstIndex { $0.id == focus } ?? 0
        guard let path = cursor.flatMap({ list.path(of: $0) }), !view.isFolded(section: path.section) else { return }
        view.moveToRow(path)
    }

    // MARK: Commands

    private var cursorPath: ListPath? { view.cursor?.path }

    /// Shows the list as it was after the next or previous transaction.
    private func go(_ step: Int) {
        guard let transaction = pane.transaction(step) else {
            return browser.say(step < 0 ? "this is the oldest transaction" : "this is the newest transaction")
        }
        read(transaction)
    }

    private func read(_ transaction: NSPersistentHistoryTransaction) {
        pane.readPast(of: transaction) { [weak self] _, list in
            guard let self else { return }
            take(list, folded: view.folded, cursor: cursorPath.flatMap { self.list.id(at: $0) })
        }
    }

    /// Moves to the next or previous row that differs from today's list.
    private func goToDifference(forward: Bool) {
        let rows = list.differing
        guard let first = rows.first, let last = rows.last else {
            return browser.say("no record of this list was changed or deleted later")
        }
        let here = cursorPath ?? ListPath(section: view.cursor?.section ?? 0, row: -1)
        if let next = forward ? rows.first(where: { $0 > here }) : rows.last(where: { $0 < here }) {
            return view.moveToRow(next)
        }
        view.moveToRow(forward ? first : last)
        browser.say(forward ? "continued at the top" : "continued at the bottom")
    }

    /// Opens the current record. For a deleted one, shows what is known.
    private func open() {
        if case .header(let section) = view.cursor {
            return view.setFolded(!view.isFolded(section: section), section: section)
        }
        guard let path = cursorPath, let id = list.id(at: path) else { return }
        if let deletion = list.deletion(at: path) { return browser.say(Self.text(of: deletion, id)) }
        guard let object = try? session.context.existingObject(with: id) else {
            return browser.say("the record was deleted later")
        }
        browser.layers.push(DetailScreen(browser: browser, session: session, object: object))
    }

    private static func text(of deletion: PastRecords.Deletion, _ id: NSManagedObjectID) -> String {
        let number = "#\(deletion.transaction)"
        let place =
            deletion.author.map { sentence("deleted in \(number) by \($0)") } ?? sentence("deleted in \(number)")
        let known = deletion.values.sorted { $0.key < $1.key }.compactMap { name, value in
            id.entity.propertiesByName[name].map { "\(PropertyTitle.title(name)) \(ValueDisplay.text(value, of: $0))" }
        }
        return known.isEmpty
            ? sentence("\(place); the history has none of its values")
            : sentence("\(place); the history has \(known.joined(separator: ", "))")
    }

    private func fold(_ fold: (Int) -> Bool) {
        guard let section = view.cursor?.section else { return }
        view.setFolded(fold(section), section: section)
    }

    private func close() {
        pane.stopReading()
        isFinished = true
    }

    func move(by lines: Int) { view.move(by: lines) }
    func move(byPages pages: Double) { view.move(byPages: pages) }
    func moveToStart() { view.moveToStart() }
    func moveToEnd() { view.moveToEnd() }

    static let keysName = "past"
    static let keysRemark = "The keys of the past list (a in the history)."
    static let table = CommandTable<PastScreen>(moving + reading)
    var commands: CommandTable<PastScreen> { browser.tables[PastScreen.self] }

    private static var moving: [Command<PastScreen>] {
        let category = "Past list"
        return Command.moving(
            category, next: "next record", previous: "previous record", first: "first record", last: "last record",
            halfPage: .half) + [
                Command("next section", keys: "]", category: category, help: "next section, or the end of the list") {
                    $0.view.moveBySection(1)
                },
                Command(
                    "previous section", keys: "[", category: category,
                    help: "start of this section, then of the previous one"
                ) { $0.view.moveBySection(-1) },
            ] + Command.columnSteps(category) + [
                Command("toggle fold", keys: "za - +", category: category, help: "fold or unfold the section") {
                    screen in
                    screen.fold { !screen.view.isFolded(section: $0) }
                },
                Command("fold all", keys: "zM", category: category, help: "fold all sections") {
                    $0.view.setAllFolded(true)
                },
                Command("unfold all", keys: "zR", category: category, help: "unfold all sections") {
                    $0.view.setAllFolded(false)
                },
            ]
    }

    private static var reading: [Command<PastScreen>] {
        let category = "Past list"
        return [
            Command(
                "next difference", keys: "n", category: category, help: "next record that was changed or deleted later"
            ) { $0.goToDifference(forward: true) },
            Command(
                "previous difference", keys: "N", category: category,
                help: "previous record that was changed or deleted later"
            ) {
                $0.goToDifference(forward: false)
            },
            Command("earlier", keys: "(", category: category, help: "show the list as of the previous transaction") {
                $0.go(-1)
            },
            Command("later", keys: ")", category: category, help: "show the list as of the next transaction") {
                $0.go(1)
            },
            Command(
                "open", keys: "<Enter>", category: category, help: "open the current record, or show who deleted it"
            ) { $0.open() },
            Command("read again", keys: "R <F5>", category: category, help: "reload the list with current values") {
                $0.read($0.list.transaction)
            },
            Command("help", keys: "? <F1>", category: category, help: "this help") { screen in
                screen.browser.showHelp(screen.commands, title: "Keys of the past list")
            },
            Command("close", keys: "<Esc> q a H <C-c>", category: category, help: "back to the history") { screen in
                if !screen.pane.stopReading() { screen.close() }
            },
        ]
    }

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key):
            return run(key)
        case .mouse(let mouse):
            switch mouse.action {
            case .wheelUp: view.scroll(by: -3)
            case .wheelDown: view.scroll(by: 3)
            case .press, .doubleClick:
                guard let position = view.position(at: mouse.position) else { return true }
                if position == view.cursor { open() } else { view.setCursor(position) }
            }
        default: return false
        }
        return true
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        canvas.clear()
        guard canvas.height > 5 else { return view.draw(in: canvas) }
        let remarks = remarks
        let room = canvas.width - remarks.reduce(1) { $0 + canvas.text.width($1.0) }
        // Truncate a long author to keep the remarks visible.
        let least = canvas.text.width(title(author: ""))
        let author = canvas.text.truncated(TransactionText.author(of: list.transaction), to: max(6, room - least))
        StatusLine(left: [(title(author: author), .status)], right: remarks).draw(in: canvas, y: 0)
        drawDifferences(in: canvas, y: 1)
        let body = canvas.part(x: 0, y: 2, width: canvas.width, height: canvas.height - 3)
        view.draw(in: body)
        if list.records.objectCount == 0 { body.write(tr("The list had no records."), x: 2, y: 2, style: .text) }
        let hints = [
            ("?", "help"), ("( )", "earlier, later"), ("n N", "differences"), ("Enter", "record"), ("Esc", "back"),
            ("R", "read again"),
        ]
        draw(hints, in: canvas)
    }

    private func title(author: String) -> String {
        let plural = CountedNoun.plural(list.records.display.name)
        let time = TransactionText.time(list.transaction.timestamp)
        let number = list.transaction.transactionNumber
        return sentence(" \(plural) as of transaction \(number), \(time) by \(author); values are today's")
    }

    private var remarks: [(String, Role)] {
        if pane.pastReading != nil { return [(" " + tr("reading, Esc stops") + " ", .warning)] }
        return revision == session.revision ? [] : [(" " + tr("changed: R reloads") + " ", .warning)]
    }

    private func drawDifferences(in canvas: Canvas, y: Int) {
        canvas.fillLine(y, style: .text)
        let symbols = canvas.symbols
        var pieces: [(text: String, role: Role)] = [
            (CountedNoun.text(list.records.objectCount, list.records.display.name), .text)
        ]
        func add(_ sign: String, _ role: Role, _ count: Int, _ text: String) {
            if count > 0 { pieces += [("   \(sign) ", role), (text, .muted)] }
        }
        add(symbols.removed, .error, list.deletedCount, sentence("\(list.deletedCount) deleted since"))
        add(symbols.updated, .updated, list.changedCount, sentence("\(list.changedCount) changed since"))
        let filter = list.records.settings.filter
        let later = list.past.inserted.count
        if filter.isEmpty {
            add(symbols.inserted, .inserted, later, sentence("\(later) later, left out"))
        } else {
            let unseen = list.past.deleted.count - list.deletedCount
            add(symbols.removed, .error, unseen, sentence("\(unseen) deleted since, perhaps matching"))
            pieces.append(("   " + tr("filter: %s", filter), .muted))
        }
        var x = 1
        for piece in pieces where x < canvas.width {
            x += canvas.write(piece.text, x: x, y: y, style: Style(piece.role), limit: canvas.width - x)
        }
    }
}
