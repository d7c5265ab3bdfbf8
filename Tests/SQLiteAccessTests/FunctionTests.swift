import Foundation
import SQLiteAccess
import Testing

@Suite struct FunctionTests {
    struct Refusal: Error, CustomStringConvertible { var description: String { "not that one" } }
    let connection: Connection

    init() throws { connection = try Connection(path: ":memory:", access: .create) }

    @Test func argumentsArriveAndResultsLeaveUnchanged() throws {
        try connection.addFunction(named: "same", argumentCount: 1) { $0[0] }
        for value in [
            SQLiteValue.null, .integer(7), .real(1.5), .text("é"), .text(""), .blob(Data([1])), .blob(Data()),
        ] {
            #expect(try connection.value("SELECT same(?)", [value]) == value)
        }
    }

    @Test func anErrorOfTheFunctionFailsTheStatement() throws {
        try connection.addFunction(named: "refuse", argumentCount: -1) { _ in throw Refusal() }
        #expect { try connection.value("SELECT refuse(1, 2)") } throws: { "\($0)".contains("not that one") }
    }

    @Test func aConstantArgumentIsPreparedOnce() throws {
        final class Pattern { init() {} }
        final class Counter { var made = 0 }
        let counter = Counter()
        try connection.addRawFunction(named: "matches", argumentCount: 2) { arguments in
            _ = arguments.prepared(from: 1) { _ in
                counter.made += 1
                return Pattern()
            }
            return .integer(Int64(arguments[0].withUTF8 { $0.count }))
        }
        let sql = "WITH n(i) AS (VALUES ('a'), ('bb'), ('ccc')) SELECT sum(matches(i, 'x')) FROM n"
        #expect(try connection.integer(sql) == 6)
        #expect(counter.made == 1)
    }

    @Test func collationsOrder() throws {
        try connection.addCollation(named: "BY_LENGTH") { left, right in
            left.count < right.count ? .orderedAscending : left.count > right.count ? .orderedDescending : .orderedSame
        }
        let sql = "WITH n(i) AS (VALUES ('ccc'), ('a'), ('bb')) SELECT i FROM n ORDER BY i COLLATE BY_LENGTH"
        #expect(try connection.rows(sql) == [[.text("a")], [.text("bb")], [.text("ccc")]])
    }

    /// SQLite sorts all rows in one step, during which it does not call the progress handler.
    @Test func aCancelledSortComparesNoMore() throws {
        var comparisons = 0
        try connection.addCollation(named: "COUNTED") { left, right in
            comparisons += 1
            return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
        }
        let sql = """
            WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
            SELECT CAST(i * 7919 % 20000 AS TEXT) FROM n ORDER BY 1 COLLATE COUNTED
            """
        let error = #expect(throws: SQLiteError.self) {
            try connection.cancelling(when: { _ in comparisons >= 100 }) { try connection.rows(sql) }
        }
        #expect(error?.kind == .interrupted)
        #expect(comparisons == 100)
        #expect(try connection.rows(sql).count == 20_000, "the connection goes on")
    }

    @Test func progressCountsVisitedRows() throws {
        try connection.execute("CREATE TABLE n (i INTEGER PRIMARY KEY, t TEXT)")
        try connection.execute(
            """
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
            INSERT INTO n SELECT i, 'text ' || i FROM n
            """)
        // The second run reuses the prepared statement.
        for _ in 0..<2 {
            var told: [Int] = []
            let found = try connection.cancelling(when: {
                told.append($0)
                return false
            }) {
                try connection.withStatement("SELECT count(*) FROM n WHERE t LIKE ?") { statement in
                    try statement.bind([.text("%7")])
                    return try statement.step() ? statement.integer(at: 0) : 0
                }
            }
            #expect(found == 5000)
            #expect(told == told.sorted() && told.count > 5, "\(told)")
            #expect(told.last.map { $0 > 40_000 && $0 <= 50_000 } == true, "\(told)")
        }
        // A lookup by key visits few rows.
        var most = 0
        try connection.cancelling(when: {
            most = max(most, $0)
            return false
        }) {
            for key in 1...5000 { _ = try connection.rows("SELECT t FROM n WHERE i = \(key)") }
        }
        #expect(most == 0)
    }
}
