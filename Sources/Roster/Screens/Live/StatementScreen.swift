import CoreData
import TerminalKit
import Translation

/// A screen to browse the statements of the store, with the full text of the current one below. New statements are
/// appended; the cursor follows if it is on the last one.
final class StatementScreen: MovingScreen, KeyHelping {
    private let log: StatementLog
    private unowned let browser: Browser
    private(set) var isFinished = false
    private var statements: [ExecutedStatement] = []
    /// The index of `statements[0]` among all statements since recording began.
    private var first = 0
    private(set) var cursor = 0
    private var top = 0
    private var height = 1
    var keys = KeySequenceReader()
    /// The first visible line of the full text.
    private var textTop = 0
    private var textLines = 0
    private var textHeight = 1
    private var listTop = 1

    init(_ log: StatementLog, browser: Browser) {
        (self.log, self.browser) = (log, browser)
        takeUp()
        cursor = max(0, statements.count - 1)
    }

    /// Takes new statements from the log. The cursor stays on its statement.
    private func takeUp() {
        let wasLast = cursor >= statements.count - 1
        let (kept, last) = log.kept
        let gone = last - kept.count - first
        (statements, first) = (kept, last - kept.count)
        if wasLast {
            if cursor != kept.count - 1 { textTop = 0 }
            cursor = max(0, kept.count - 1)
        } else {
            cursor = max(0, cursor - gone)
            top = max(0, top - gone)
        }
    }

    func move(by lines: Int) {
        let next = max(0, min(statements.count - 1, cursor + lines))
        if next != cursor { textTop = 0 }
        cursor = next
    }

    func move(byPages pages: Double) { move(by: Int(pages) * height) }

    func moveToStart() { move(by: -statements.count) }

    func moveToEnd() { move(by: statements.count) }

    private func scrollText(by step: Int) {
        textTop = max(0, min(textLines - textHeight, textTop + step))
    }

    // MARK: Keys

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return run(key)
        case .mouse(let mouse):
            let row = mouse.position.y - listTop
            let isInList = row < height
            switch mouse.action {
            case .wheelUp: if isInList { move(by: -3) } else { scrollText(by: -1) }
            case .wheelDown: if isInList { move(by: 3) } else { scrollText(by: 1) }
            default: if (0..<height).contains(row), top + row < statements.count { move(by: top + row - cursor) }
            }
            return true
        default: return false
        }
    }

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { keyHelp("Keys of the statements") }

    static let keysName = "statements"
    static let keysRemark = "The keys of the statements."
    static let table = CommandTable(
        Command<StatementScreen>.moving(
            "Look", next: "next line", previous: "previous line", first: "first line", last: "last line",
            start: "g <Home>",
            halfPage: .unbound) + [
                Command("scroll down", keys: "J <C-d> <Space>", category: "Look", help: "scroll the statement's text") {
                    $0.scrollText(by: 1)
                },
                Command("scroll up", keys: "K <C-u>", category: "Look", help: "scroll the statement's text") {
                    $0.scrollText(by: -1)
                },
                Command("copy", keys: "y", category: "Look", help: "copy the statement") { $0.copy() },
                Command("close", keys: "<Esc> q <Enter> <C-c>", category: "Look", help: "back to the list") {
                    $0.isFinished = true
                },
            ])
    var commands: CommandTable<StatementScreen> { browser.tables[StatementScreen.self] }

    private func copy() {
        guard statements.indices.contains(cursor) else { return }
        browser.copy(statements[cursor].sql, named: tr("the statement"))
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        takeUp()
        canvas.clear()
        let number = "\(GroupedNumber.text(first + cursor + 1))/\(GroupedNumber.text(first + statements.count))"
        let place = statements.isEmpty ? "" : " \(number) "
        StatusLine(left: [(sentence(" Statements of the store: \(log.count)"), .status)], right: [(place, .status)])
            .draw(in: canvas, y: 0)
        if statements.isEmpty {
            canvas.write(tr("no statements yet: scroll, sort or save"), x: 2, y: 1, style: .muted)
        }
        let whole = statements.indices.contains(cursor) ? statements[cursor].sql : ""
        let lines = canvas.text.wrapped(whole, to: max(1, canvas.width - 2))
        let body = max(1, canvas.height - 2)
        textLines = lines.count
        textHeight = body < 6 ? 0 : min(max(1, lines.count), body / 2)
        height = max(1, body - (textHeight == 0 ? 0 : textHeight + 1))
        scrollText(by: 0)
        top = max(0, min(top, cursor))
        if cursor >= top + height { top = cursor - height + 1 }
        for row in 0..<height where top + row < statements.count {
            let isSelected = top + row == cursor
            let y = row + listTop
            canvas.fillLine(y, style: Style(.text, selected: isSelected))
            var x = 0
            for run in StatementLog.line(statements[top + row]).runs where x < canvas.width {
                x += canvas.write(
                    run.text, x: x, y: y, style: Style(run.role, selected: isSelected), limit: canvas.width - x)
            }
        }
        if textHeight > 0 {
            let ruleY = listTop + height
            canvas.part(x: 0, y: ruleY, width: canvas.width, height: 1).rule(y: 0)
            if textLines > textHeight {
                let shown = "\(textTop + 1)–\(textTop + textHeight) / \(textLines)"
                canvas.write(" \(shown) ", x: 2, y: ruleY, style: .muted)
            }
            for (row, line) in lines.dropFirst(textTop).prefix(textHeight).enumerated() {
                canvas.write(line, x: 1, y: ruleY + 1 + row, style: .text)
            }
        }
        let hints = [
            ("j k", "move"), ("G g", "newest, oldest"), ("J K", "scroll the text"), ("y", "copy"), ("Esc", "back"),
        ]
        draw(hints, in: canvas)
    }
}
