import SQLiteAccess
import Testing

@Suite struct TransactionTests {
    struct Failure: Error {}
    let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:", access: .create)
        try connection.execute("CREATE TABLE t (a UNIQUE)")
    }

    func count() throws -> Int64? { try connection.integer("SELECT count(*) FROM t") }

    @Test func anErrorUndoesEverything() throws {
        #expect(throws: Failure.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES (1)")
                throw Failure()
            }
        }
        #expect(try count() == 0)
        #expect(!connection.isInTransaction)
    }

    @Test func aSavepointUndoesItsOwnPartOnly() throws {
        try connection.transaction {
            try connection.execute("INSERT INTO t VALUES (1)")
            #expect(throws: Failure.self) {
                try connection.savepoint("inner") {
                    try connection.execute("INSERT INTO t VALUES (2)")
                    throw Failure()
                }
            }
            try connection.savepoint("inner") { try connection.execute("INSERT INTO t VALUES (3)") }
        }
        #expect(try connection.rows("SELECT a FROM t ORDER BY a") == [[.integer(1)], [.integer(3)]])
    }

    @Test func readingInsideATransactionJustRuns() throws {
        try connection.transaction { try connection.reading { #expect(connection.isInTransaction) } }
        try connection.reading { #expect(connection.isInTransaction) }
        #expect(!connection.isInTransaction)
    }
}
