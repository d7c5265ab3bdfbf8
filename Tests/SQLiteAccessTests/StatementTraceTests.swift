import Foundation
import Testing

@testable import SQLiteAccess

/// Lines written by the statement trace.
@Suite struct StatementTraceTests {
    private final class Lines: @unchecked Sendable {
        var all: [String] = []
    }

    private func lines(_ level: Int) throws -> [String] {
        let lines = Lines()
        let trace = StatementTrace(level: level) { lines.all.append($0) }
        let connection = try Connection(path: ":memory:", access: .create, trace: trace)
        try connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        for number in 1...3 {
            try connection.execute("INSERT INTO t VALUES (?, ?)", [.integer(Int64(number)), .text("x\u{1b}[2J你")])
        }
        _ = try connection.rows("SELECT b FROM t WHERE a > ?", [.integer(1)])
        connection.close()
        return withExtendedLifetime(trace) { lines.all }
    }

    @Test func statementsAreWrittenWithTheirRowsAndTime() throws {
        let found = try lines(1)
        #expect(found.count == 5)
        #expect(found[1].hasPrefix("CoreData: sql: INSERT INTO t VALUES (?, ?) [0 rows, "))
        #expect(
            found[4].hasPrefix("CoreData: sql: SELECT b FROM t WHERE a > ? [2 rows, ") && found[4].hasSuffix(" ms]"))
    }

    @Test func controlCharactersOfValuesAreEscaped() throws {
        let found = try lines(2)
        #expect(found[1].contains("VALUES (1, 'x\\u{1b}[2J你')"))
        #expect(found[4].contains("a > 1 [2 rows"))
    }

    @Test func plansAreWrittenWhereStatementsArePrepared() throws {
        let plans = try lines(3).filter { $0.hasPrefix("CoreData: plan: ") }
        #expect(plans == ["CoreData: plan: SEARCH t USING INTEGER PRIMARY KEY (rowid>?)"])
    }
}
