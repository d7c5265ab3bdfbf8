import CoreData
import Foundation
import Synchronization
import TerminalKit
import Translation

/// The statements that the store executes, for the pane that shows them.
nonisolated final class StatementLog: Sendable {
    static let limit = 500

    private struct State {
        var statements: [ExecutedStatement] = []
        var count = 0
        var isTold = false
    }

    private let state = Mutex(State())

    /// Adds a statement, on any thread. Returns true if the screen has to be redrawn.
    func add(_ statement: ExecutedStatement) -> Bool {
        // The store polls for changes of other programs with this pragma; the user did not cause it.
        if statement.sql.hasPrefix("PRAGMA data_version") { return false }
        return note(statement)
    }

    private func note(_ statement: ExecutedStatement) -> Bool {
        state.withLock { state in
            state.count += 1
            state.statements.append(statement)
            if state.statements.count > Self.limit { state.statements.removeFirst(state.statements.count - Self.limit) }
            defer { state.isTold = true }
            return !state.isTold
        }
    }

    /// The last lines, oldest first: rows, milliseconds, statement.
    func lines(_ limit: Int) -> [TextPane.Line] {
        let statements = state.withLock { state in
            state.isTold = false
            return Array(state.statements.suffix(limit))
        }
        return statements.map(Self.line)
    }

    /// All recorded statements, oldest first, and the number of the last one since recording began.
    var kept: (statements: [ExecutedStatement], last: Int) {
        state.withLock { state in
            state.isTold = false
            return (state.statements, state.count)
        }
    }

    static func line(_ statement: ExecutedStatement) -> TextPane.Line {
        let milliseconds = statement.duration / .milliseconds(1)
        let time = padded(String(format: "%.2f ms", milliseconds), to: 11)
        let rows = padded(CountedNoun.text(statement.rows, "row"), to: 11)
        return TextPane.Line(runs: [
            (rows, .muted), (time, milliseconds >= 50 ? .warning : .key), ("  " + statement.sql, .text),
        ])
    }

    /// Number of statements since recording began.
    var count: Int { state.withLock { $0.count } }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension ListScreen {
    func toggleStatements() {
        if statements != nil {
            statements = nil
            statementObservation = nil
            return
        }
        beginStatements()
    }

    /// Opens the screen of statements. Starts recording if needed.
    func lookThroughStatements() {
        if statements == nil { beginStatements() }
        if let statements { browser.layers.push(StatementScreen(statements, browser: browser)) }
    }

    private func beginStatements() {
        let log = StatementLog()
        statements = log
        showsCallbacks = false
        // Called on any thread.
        statementObservation = StatementObservation { [weak browser] statement in
            guard log.add(statement) else { return }
            DispatchQueue.main.async { [weak browser] in browser?.needsDisplay = true }
        }
    }

    func drawStatements(_ log: StatementLog, in canvas: Canvas) {
        canvas.rule(y: 0)
        canvas.write(sentence(" Statements of the store: \(log.count), gT reads them "), x: 2, y: 0, style: .heading)
        let lines = log.lines(canvas.height - 1)
        if lines.isEmpty { canvas.write(tr("no statements yet: scroll, sort or save"), x: 2, y: 1, style: .muted) }
        for (row, line) in lines.enumerated() {
            canvas.fillLine(row + 1, style: .text)
            var x = 0
            for run in line.runs { x += canvas.write(run.text, x: x, y: row + 1, style: Style(run.role)) }
        }
    }
}
