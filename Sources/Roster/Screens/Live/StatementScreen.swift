import CoreData
import TerminalKit
import Translation

/// The statements of the store to look through: a line for each, and beneath the whole text of the one under the cursor.
/// What comes meanwhile is added at the end; the cursor follows it while it is on the last one.
final class StatementScreen: KeyHelping {
    private let log: StatementLog
    private unowned let browser: Browser
    private(set) var isFinished = false
    private var statements: [ExecutedStatement] = []
    /// The number of the first kept statement among all that came.
    private var first = 0
    private(set) var cursor = 0
    private var top = 0
    private var height = 1
    /// The first line shown of the whole text.
    private var textTop = 0
    private var textLines = 0
    private var textHeight = 1
    private var listTop = 1

    init(_ log: StatementLog, browser: Browser) {
        (self.log, self.browser) = (log, browser)
        takeUp()
        cursor = max(0, statements.count - 1)
    }

    /// Takes up what came; the cursor stays on its statement.
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

    private func move(by step: Int) {
        let next = max(0, min(statements.count - 1, cursor + step))
        if next != cursor { textTop = 0 }
        cursor = next
    }

    private func scrollText(by step: Int) {
        textTop = max(0, min(textLines - textHeight, textTop + step))
    }

    // MARK: Keys

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return handle(key)
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

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) {
        (
            "Keys of the statements",
            [
                ("j k", "down, up"), ("PgDn PgUp", "a page down, up"), ("g G", "to the oldest, to the newest"),
                ("J K", "scroll the statement's text"), ("y", "copy the statement"), ("Esc q", "back to the list"),
            ]
        )
    }

    private func handle(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.down, []), (.character("j"), []): move(by: 1)
        case (.up, []), (.character("k"), []): move(by: -1)
        case (.pageDown, []), (.character("f"), .control): move(by: height)
        case (.pageUp, []), (.character("b"), .control): move(by: -height)
        case (.home, []), (.character("g"), []): move(by: -statements.count)
        case (.end, []), (.character("G"), []): move(by: statements.count)
        case (.character("d"), .control), (.character(" "), []), (.character("J"), []): scrollText(by: 1)
        case (.character("u"), .control), (.character("K"), []): scrollText(by: -1)
        case (.character("y"), []): copy()
        case (.escape, []), (.enter, []), (.character("q"), []), (.character("c"), .control): isFinished = true
        default: return false
        }
        return true
    }

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
            canvas.write(tr("none yet: scroll, sort or save"), x: 2, y: 1, style: .muted)
        }
        let whole = statements.indices.contains(cursor) ? statements[cursor].sql : ""
        let lines = canvas.text.wrapped(whole, to: max(1, canvas.width - 2))
        // The whole text has as many lines as it needs, of half the screen.
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
        KeyHints.draw(hints, in: canvas, y: canvas.height - 1)
    }
}
