import Foundation
import SQLiteAccess
import Testing

@Suite struct ConnectionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func aMissingFileIsOnlyMadeOnRequest() throws {
        #expect { try Connection(path: folder.path("no.db"), access: .readWrite) } throws: {
            ($0 as? SQLiteError)?.kind == .cannotOpen
        }
        let made = try Connection(path: folder.path("yes.db"), access: .create)
        try made.execute("CREATE TABLE t (a)")
        #expect(FileManager.default.fileExists(atPath: folder.path("yes.db")))
    }

    @Test func namesWithOddCharactersOpenReadOnly() throws {
        let path = folder.path("what? 100% #1 é.db")
        let writer = try Connection(path: path, access: .create)
        try writer.execute("CREATE TABLE t (a)")
        writer.close()
        for access in [Connection.Access.readOnly, .immutable] {
            let reader = try Connection(path: path, access: access)
            #expect(try reader.hasTable("T"))
            #expect { try reader.execute("INSERT INTO t VALUES (1)") } throws: {
                ($0 as? SQLiteError)?.kind == .readOnly
            }
        }
    }

    @Test func aFileThatIsNotADatabaseIsReportedAsSuch() throws {
        try Data("just some text, long enough to be looked at as a header".utf8)
            .write(to: URL(fileURLWithPath: folder.path("text.db")))
        let connection = try Connection(path: folder.path("text.db"), access: .readWrite)
        #expect { try connection.pragma("schema_version") } throws: { ($0 as? SQLiteError)?.kind == .notADatabase }
    }

    @Test func aLockHeldElsewhereIsBusyAfterTheTimeout() throws {
        let first = try Connection(path: folder.path("a.db"), access: .create)
        try first.execute("CREATE TABLE t (a)")
        let second = try Connection(path: folder.path("a.db"), access: .readWrite, busyTimeout: 0.05)
        try first.transaction {
            let start = ContinuousClock.now
            #expect { try second.transaction {} } throws: { ($0 as? SQLiteError)?.kind == .busy }
            // A lower limit only: the rest depends on the machine.
            #expect(ContinuousClock.now - start >= .milliseconds(40))
        }
        try second.transaction {}
    }

    @Test func dataVersionChangesOnlyForCommitsOfOthers() throws {
        let first = try Connection(path: folder.path("a.db"), access: .create)
        try first.setPragma("journal_mode", to: "wal")
        try first.execute("CREATE TABLE t (a)")
        let second = try Connection(path: folder.path("a.db"), access: .readWrite)
        let before = (try first.dataVersion(), try second.dataVersion())
        try second.execute("INSERT INTO t VALUES (1)")
        #expect(try first.dataVersion() != before.0)
        #expect(try second.dataVersion() == before.1)
    }

    @Test func logFilesStayEmptyAfterClosing() throws {
        let path = folder.path("a.db")
        let connection = try Connection(path: path, access: .create)
        try connection.setPragma("journal_mode", to: "wal")
        try connection.setPragma("journal_size_limit", to: "1000000")
        connection.keepLogFiles()
        try connection.execute("CREATE TABLE t (a)")
        connection.close()
        let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        #expect(size == 0)
    }

    @Test func interruptStopsAStatement() throws {
        let connection = try Connection(path: ":memory:", access: .create)
        try connection.addFunction(named: "stop", argumentCount: 0, isDeterministic: false) { _ in
            connection.interrupt()
            return .null
        }
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        let endless = numbers + " SELECT sum(i + ifnull(stop(), 0)) FROM n"
        #expect { try connection.rows(endless) } throws: { ($0 as? SQLiteError)?.kind == .interrupted }
    }

    @Test func pragmaNamesAndValuesAreChecked() throws {
        let connection = try Connection(path: ":memory:", access: .create)
        #expect(throws: SQLiteError.self) { try connection.setPragma("cache_size", to: "1; DROP TABLE t") }
        #expect(throws: SQLiteError.self) { try connection.pragma("x; DROP TABLE t") }
        try connection.setPragma("cache_size", to: "-4000")
        #expect(try connection.pragma("cache_size") == .integer(-4000))
    }
}
