import Foundation
import SQLiteAccess
import Synchronization
import Testing

/// Commits at a given rate on its own thread with SQL statements, as another program would, including the history.
final class FastWriter: Sendable {
    /// The first record in a list by goals. Its goals show the writer's progress.
    static let marked = "Marked team"
    private static let firstMark = 5_000_000

    private struct State {
        var isStopped = false
        var commits = 0
        var mark: Int?
        var isRunning = false
    }

    private let store: String
    private let state = Mutex(State())

    var commits: Int { state.withLock { $0.commits } }

    /// The goals written last.
    var lastMark: Int? { state.withLock { $0.mark } }

    /// The goals of the marked record on a screen.
    static func mark(on screen: String) -> Int? {
        screen.split(separator: "\n").first { $0.contains(marked) }.flatMap { line in
            line.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }.first { $0 >= firstMark }
        }
    }

    /// Adds the marked record and others. Call before a program has the store open.
    init(store: String, records: Int) throws {
        self.store = store
        let connection = try Connection(path: store, access: .readWrite)
        defer { connection.close() }
        let entity = "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Team')"
        for statement in [
            "BEGIN",
            """
            INSERT INTO ZTEAM (Z_ENT, Z_OPT, ZTEAMNAME, ZTITLES, ZWINS, ZLOSSES, ZGOALSFOR)
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(records))
            SELECT \(entity), 1, CASE i WHEN 1 THEN '\(Self.marked)' ELSE printf('Team %07d', i) END,
                0, 0, 0, CASE i WHEN 1 THEN \(Self.firstMark) ELSE 0 END FROM n
            """,
            "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZTEAM) WHERE Z_NAME = 'Team'",
            "COMMIT",
        ] { try connection.execute(statement) }
    }

    deinit { stop() }

    /// Starts to commit `rate` times a second.
    func start(rate: Double) throws {
        let connection = try Connection(path: store, access: .readWrite)
        let thread = Thread { [self] in
            defer {
                connection.close()
                state.withLock { $0.isRunning = false }
            }
            do { try run(connection, rate) } catch { Issue.record("the writer ended: \(error)") }
        }
        state.withLock { $0.isRunning = true }
        thread.start()
    }

    /// Stops the writer after the current commit.
    func stop() {
        state.withLock { $0.isStopped = true }
        while state.withLock({ $0.isRunning }) { usleep(1000) }
    }

    private func run(_ connection: Connection, _ rate: Double) throws {
        try connection.execute("PRAGMA synchronous = NORMAL")
        let count = try #require(try connection.integer("SELECT max(Z_PK) FROM ZTEAM"))
        let marked = try #require(try connection.integer("SELECT Z_PK FROM ZTEAM WHERE ZTEAMNAME = '\(Self.marked)'"))
        try connection.execute(
            "INSERT OR IGNORE INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (99, 16003, 1, 'fast writer')")
        let began = ContinuousClock.now
        var (done, marks) = (0, 0)
        while !state.withLock({ $0.isStopped }) {
            let due = began + .seconds(Double(done) / rate)
            if ContinuousClock.now < due {
                usleep(1000)
                continue
            }
            let isMark = began + .milliseconds(500) * (marks + 1) <= ContinuousClock.now
            if isMark { marks += 1 }
            let key = isMark ? marked : Int64.random(in: 1..<count)
            let assignment = isMark ? "ZGOALSFOR = \(Self.firstMark + marks)" : "ZWINS = ZWINS + 1"
            try commit(connection, key, assignment)
            done += 1
            state.withLock { state in
                state.commits += 1
                if isMark { state.mark = Self.firstMark + marks }
            }
        }
    }

    private func commit(_ connection: Connection, _ key: Int64, _ assignment: String) throws {
        func next(_ name: String) throws -> Int64 {
            let text = "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = '\(name)' RETURNING Z_MAX"
            return try #require(try connection.integer(text))
        }
        try connection.execute("BEGIN IMMEDIATE")
        let (transaction, change) = (try next("TRANSACTION"), try next("CHANGE"))
        let time = Date().timeIntervalSinceReferenceDate
        for statement in [
            "UPDATE ZTEAM SET \(assignment), Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)",
            """
            INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
            VALUES (\(change), 16001, 1, 1, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Team'), \(key), \(transaction))
            """,
            """
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZBUNDLEIDTS, ZPROCESSIDTS, ZTIMESTAMP)
            VALUES (\(transaction), 16002, 1, 99, 99, \(time))
            """,
            "COMMIT",
        ] { try connection.execute(statement) }
    }
}
