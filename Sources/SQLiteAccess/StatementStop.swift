import CSQLite3
import Synchronization

/// Stops the statements of all connections of the process, for a program that has to end.
package enum StatementStop {
    private static let flag = Atomic<Bool>(false)

    /// Makes running and later statements fail. Those that end a transaction still run.
    package static func raise() { flag.store(true, ordering: .relaxed) }

    static var isRaised: Bool { flag.load(ordering: .relaxed) }

    /// - Throws: the error of an interrupted statement.
    static func check(_ sql: String) throws {
        guard isRaised, !["COMMIT", "ROLLBACK", "RELEASE", "PRAGMA"].contains(where: sql.hasPrefix) else { return }
        throw SQLiteError(extendedCode: SQLITE_INTERRUPT, message: "the program ends", sql: sql)
    }
}
