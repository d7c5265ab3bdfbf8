import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The result of a question in SQL as a list: sorted by any column, exported, copied.
final class AnswerScreen: WorkingLayer, RowScreen, LookingScreen, KeyHelping {
    unowned let list: ListScreen
    private let statement: String?
    private(set) var isFinished = false
    private var answer = SQLTable()
    private var asking: Job<SQLTable>?
    var rows = ScrolledRows()
    var rowCount: Int { answer.rows.count }
    var keys = KeySequenceReader()
    private(set) var firstLine = 0
    private var column = 0
    private var left = 0
    private var sorted: (column: Int, isAscending: Bool)?

    private static let widestColumn = 40

    /// Asks at once.
    ///
    /// - Parameter statement: `nil` for the tables that a statement can name.
    init(list: ListScreen, statement: String?) {
        self.list = list
        self.statement = statement
        let coordinator = list.session.container.persistentStoreCoordinator
        let limit = list.session.limits.answerRows
        let job = Job(
            "sql",
            onThread: { control in
                try SQLTable(statement, in: coordinator, limit: limit, interruption: control.surroundings.interruption)
            }, then: { [weak self] in self?.show($0) })
        asking = job
        job.wait(ColumnCounts.patience)
    }

    private func show(_ result: Result<SQLTable, any Error>) {
        list.browser.needsDisplay = true
        asking = nil
        do { answer = try result.get() } catch {
            isFinished = true
            list.browser.complain(error)
        }
    }

    func takeUp() { asking?.wait() }

    var isWorking: Bool { asking != nil }

    // MARK: Keys

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { keyHelp("Keys of the answer in SQL") }

    static let keysName = "answer"
    static let keysRemark = "The keys of an answer in SQL (:sql)."
    static let table = CommandTable<AnswerScreen>(
        Command.looking([
            Command("sort", keys: "s <Enter>", category: "Look", help: "sort by the focused column, then in reverse") {
                $0.choose()
            },
            Command("export", keys: ">", category: "Look", help: "write the whole answer to a file") {
                $0.askForExport()
            },
            Command("copy", keys: "y", category: "Look", help: "copy the focused value") { $0.copy() },
            Command("column left", keys: "h <Left>", category: "Look", help: "previous column") {
                $0.moveColumn(by: -1)
            },
            Command("column right", keys: "l <Right>", category: "Look", help: "next column") { $0.moveColumn(by: 1) },
        ]))
    var commands: CommandTable<AnswerScreen> { list.browser.tables[AnswerScreen.self] }

    func close() {
        asking?.cancel()
        isFinished = true
    }

    private func moveColumn(by step: Int) { column = max(0, min(answer.columns.count - 1, column + step)) }

    /// Sorts by the focused column; if it is sorted already, in reverse.
    func choose() {
        guard answer.columns.indices.contains(column) else { return }
        let isAscending = sorted.map { $0.column != column || !$0.isAscending } ?? true
        sorted = (column, isAscending)
        answer.sort(byColumn: column, ascending: isAscending)
        moveToStart()
    }

    private func copy() {
        guard answer.rows.indices.contains(rows.cursor), answer.columns.indices.contains(column) else { return }
        list.browser.copy(answer.text(row: rows.cursor, column: column), named: answer.columns[column])
    }

    private func askForExport() {
        guard let statement else { return list.browser.say("Only an answer can be exported.", role: .warning) }
        list.askForFile(label: "export to: ", hint: "the whole answer; .json, .csv or .tsv; Tab completes") {
            [unowned list] path in list.export(answerTo: statement, path: path)
        }
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        takeUp()
        canvas.clear()
        let counted = CountedNoun.text(rowCount, "row")
        let title = statement ?? tr("tables for SQL")
        let note = list.session.context.hasChanges ? tr("saved values ") : ""
        let more = answer.isCut ? sentence("the first \(counted); > exports all ") : counted + " "
        StatusLine(left: [(" " + title, .status)], right: [(note + (isWorking ? "" : more), .status)])
            .draw(in: canvas, y: 0)
        let body = canvas.part(x: 0, y: 2, width: canvas.width, height: canvas.height - 3)
        firstLine = body.frame.minY
        rows.fit(count: rowCount, height: body.height)
        if let asking {
            canvas.write(Activity.text(tr("asking"), since: asking.began), x: 1, y: 1, style: .text)
        } else if !answer.columns.isEmpty {
            drawTable(in: canvas, body)
            if answer.rows.isEmpty { body.write(tr("No rows."), x: 1, y: 0, style: .muted) }
        }
        draw([("s", "sort"), (">", "export"), ("h j k l", "move"), ("Esc", "close")], in: canvas)
    }

    private func drawTable(in canvas: Canvas, _ body: Canvas) {
        let lines = rows.shown(of: rowCount)
        let widths = answer.columns.indices.map { index in
            let widest = lines.map { canvas.text.width(answer.text(row: $0, column: index)) }.max() ?? 0
            return min(Self.widestColumn, max(widest, canvas.text.width(answer.columns[index]) + 2))
        }
        let shown = PivotScreen.columns(widths, room: canvas.width - 2, column: &column, left: &left)
        var x = 1
        for index in shown {
            let width = min(widths[index], canvas.width - x)
            let alignment: TextWidth.Alignment = answer.areNumbers(index) ? .right : .left
            let mark = sorted.map { $0.column == index ? ($0.isAscending ? " ↑" : " ↓") : "" } ?? ""
            let head = canvas.text.padded(answer.columns[index] + mark, to: width, alignment: alignment)
            canvas.write(head, x: x, y: 1, style: Style(.columnTitle, selected: index == column))
            for row in lines {
                let text = canvas.text.padded(answer.text(row: row, column: index), to: width, alignment: alignment)
                let isCursor = row == rows.cursor
                body.write(text, x: x, y: row - rows.top, style: Style(.text, selected: isCursor), limit: width)
            }
            x += width + 2
        }
        if (shown.last ?? 0) < answer.columns.count - 1 {
            canvas.write(canvas.symbols.moreRight, x: canvas.width - 1, y: 1, style: .muted)
        }
    }
}

extension ListScreen {
    /// Shows the answer to a statement, or without one the tables that it can name.
    func ask(inSQL text: String) -> Prompt.Problem? {
        browser.layers.push(AnswerScreen(list: self, statement: text.isEmpty ? nil : text))
        return nil
    }

    /// Writes the whole answer to a file in the background.
    fileprivate func export(answerTo statement: String, path: String) -> Prompt.Problem? {
        let file = (path as NSString).expandingTildeInPath
        guard !path.isEmpty else { return Prompt.Problem(tr("file name missing; example: export teams.csv"), at: 0) }
        guard !FileManager.default.fileExists(atPath: file) else {
            return Prompt.Problem(sentence("\(path) exists; type another name"), at: 0)
        }
        let command = SQLCommand(store: browser.options.location, statement: statement, file: file)
        browser.begin("export", { try command.run(in: $0) }) { [unowned browser] result in
            switch result {
            case .success: browser.say(sentence("exported the answer to \(file)"))
            case .failure(let error):
                browser.say(sentence("not exported: \(CommandError.line(for: error))"), role: .error)
            }
        }
        return nil
    }
}
