import CSQLite3
import Foundation
import Synchronization

/// Logs the statements of connections, including those to a server, like Apple's framework with the launch argument
/// `-com.apple.CoreData.SQLDebug 1`. The setting may also be in the user defaults, or be `CoreDataSQLDebug` in the
/// environment. The lines are written to the file named by the default `com.apple.CoreData.SQLDebugFile`
/// (`CoreDataSQLDebugFile` in the environment), otherwise to standard error.
///
/// Level 1 logs each statement with its rows and milliseconds, level 2 also the bound values, level 3 also SQLite's
/// plan when a statement is prepared.
// SAFETY: the lock guards `running`; `write` is called on any connection's thread, and appends whole lines to a file.
package final class StatementTrace: @unchecked Sendable {
    private let level: Int
    private let write: (String) -> Void
    private let lock = NSLock()
    /// The running statements: their start and their number of rows so far.
    private var running: [OpaquePointer: (start: ContinuousClock.Instant, rows: Int)] = [:]

    package init(level: Int, write: @escaping (String) -> Void) {
        self.level = level
        self.write = write
    }

    /// The trace that the process was started with; `nil` if it logs nothing.
    package static let ofProcess: StatementTrace? = {
        let key = "com.apple.CoreData.SQLDebug"
        let environment = ProcessInfo.processInfo.environment
        var level = environment["CoreDataSQLDebug"].flatMap { Int($0) } ?? environment[key].flatMap { Int($0) }
        let arguments = CommandLine.arguments
        if let place = arguments.firstIndex(of: "-" + key), place + 1 < arguments.count {
            level = Int(arguments[place + 1])
        }
        guard let level = level ?? UserDefaults.standard.object(forKey: key) as? Int, level > 0 else { return nil }
        let file = environment["CoreDataSQLDebugFile"] ?? UserDefaults.standard.string(forKey: key + "File")
        let output = StatementLog.open(file)
        return StatementTrace(level: level) { line in
            do {
                try output.write(contentsOf: Data((line + "\n").utf8))
            } catch {
                failures.withLock { $0 = $0 ?? reason(error) }
            }
        }
    }()

    /// The error that prevented writing the process's statements; `nil` if all were written.
    package static var failure: String? { failures.withLock { $0 } }
    private static let failures = Mutex<String?>(nil)

    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let system = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        guard system.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(system.code)))
    }

    /// A trace that logs nothing, but notifies the observers.
    static let forObservers = StatementTrace(level: 0) { _ in }

    /// Stops tracing a connection.
    static func detach(from handle: OpaquePointer) { sqlite3_trace_v2(handle, 0, nil, nil) }

    /// Starts tracing a connection.
    // SAFETY: a connection holds its trace, and SQLite does not call it after the connection is closed.
    func attach(to handle: OpaquePointer) {
        let events = UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW)
        // The trace of the process is never released; any other outlives its connections.
        sqlite3_trace_v2(
            handle, events,
            { event, context, statement, _ in
                guard let context, let statement else { return 0 }
                let trace = Unmanaged<StatementTrace>.fromOpaque(context).takeUnretainedValue()
                trace.note(Int32(event), OpaquePointer(statement))
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func note(_ event: Int32, _ statement: OpaquePointer) {
        switch event {
        // Each start replaces the entry, because a new statement may have the address of one that was finalised.
        case SQLITE_TRACE_STMT:
            // The last argument, 1, resets the statement's counter of steps.
            sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
            return lock.withLock { running[statement] = (.now, 0) }
        case SQLITE_TRACE_ROW: return lock.withLock { running[statement]?.rows += 1 }
        default: break
        }
        // SQLite's own measurement has a resolution of whole milliseconds.
        let (start, count) = lock.withLock { running.removeValue(forKey: statement) } ?? (.now, 0)
        let duration = ContinuousClock.now - start
        let text = text(of: statement)
        if text.hasPrefix("EXPLAIN") { return }
        if StatementObservers.isActive {
            let steps = Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
            StatementObservers.tell(ExecutedSQL(sql: text, rows: count, duration: duration, steps: steps))
        }
        guard level > 0 else { return }
        let milliseconds = String(format: "%.3f", duration / .milliseconds(1))
        write("CoreData: sql: \(text) [\(count) rows, \(milliseconds) ms]")
    }

    /// True if the texts contain the bound values.
    package var hasValues: Bool { level >= 2 }

    /// Logs a statement that another library than SQLite has run.
    ///
    /// - Parameters:
    ///   - rows: the number of rows that it returned; `nil` if this statement, or another in the same request, failed.
    ///   - duration: the time of all statements of the request.
    ///   - count: the number of statements in the request.
    package func note(_ text: String, rows: Int?, after duration: Duration, among count: Int) {
        let milliseconds = String(format: "%.3f", duration / .milliseconds(1))
        write(
            "CoreData: sql: \(Self.printable(text)) [\(rows.map { "\($0) rows" } ?? "failed"), \(milliseconds) ms"
                + (count > 1 ? " for \(count) statements]" : "]"))
    }

    private func text(of statement: OpaquePointer) -> String {
        if level >= 2, let expanded = sqlite3_expanded_sql(statement) {
            defer { sqlite3_free(expanded) }
            return Self.printable(String(cString: expanded))
        }
        return sqlite3_sql(statement).map { Self.printable(String(cString: $0)) } ?? ""
    }

    /// Logs the plan of a prepared statement.
    func notePlan(of sql: String, on connection: Connection) {
        guard level >= 3, !sql.hasPrefix("EXPLAIN"), !sql.hasPrefix("PRAGMA") else { return }
        // Without arguments: the plan is that for unknown values.
        try? connection.withStatement("EXPLAIN QUERY PLAN " + sql) { statement in
            while try statement.step() {
                guard case .text(let text) = statement.value(at: statement.columnCount - 1) else { continue }
                write("CoreData: plan: \(Self.printable(text))")
            }
        }
    }

    /// Replaces control characters, which values may contain and a terminal would interpret.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isHarmful(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
