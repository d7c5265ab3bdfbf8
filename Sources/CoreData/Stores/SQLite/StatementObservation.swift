import Foundation
import SQLiteAccess

/// A statement that an SQLite store ran: an addition to Apple's framework, for programs that show what their fetches cost.
public struct ExecutedStatement: Sendable {
    /// The statement, with `?` where values were bound.
    public let sql: String
    /// The number of rows that the statement returned.
    public let rows: Int
    /// The duration of the statement, from its first step to its end.
    public let duration: Duration
}

/// Hears the statements of all SQLite stores of the process for as long as it lives.
public final class StatementObservation: Sendable {
    /// Begins to listen.
    ///
    /// - Parameter handler: called for each statement when it ended, on the thread that ran it, with locks of the store
    ///   held: it must return soon, and must not use a store.
    public init(_ handler: @escaping @Sendable (ExecutedStatement) -> Void) {
        StatementObservers.add(self) { statement in
            handler(ExecutedStatement(sql: statement.sql, rows: statement.rows, duration: statement.duration))
        }
    }

    deinit { StatementObservers.remove(self) }

    /// Why the file of the process's statements (`com.apple.CoreData.SQLDebugFile`) could not be written; `nil` if it could.
    package static var reportFailure: String? { StatementTrace.failure }
}
