import Foundation
import SQLiteAccess

/// A statement that an SQLite store ran. An addition to Apple's framework, for programs that show the cost of fetches.
public struct ExecutedStatement: Sendable {
    /// The statement, with `?` for bound values.
    public let sql: String
    /// The number of rows that the statement returned.
    public let rows: Int
    /// The duration of the statement, from its first step to its end.
    public let duration: Duration
}

/// Observes the statements of all SQLite stores of the process during its lifetime.
public final class StatementObservation: Sendable {
    /// Begins to observe.
    ///
    /// - Parameter handler: called at the end of each statement, on the thread that ran it, while the store is locked.
    ///   It must return quickly and must not use a store.
    public init(_ handler: @escaping @Sendable (ExecutedStatement) -> Void) {
        StatementObservers.add(self) { statement in
            handler(ExecutedStatement(sql: statement.sql, rows: statement.rows, duration: statement.duration))
        }
    }

    deinit { StatementObservers.remove(self) }

    /// Makes all running and later statements of SQLite stores fail with error 3072, for a program that has to end.
    package static func stopAll() { StatementStop.raise() }

    /// The reason why the process's statement log (`com.apple.CoreData.SQLDebugFile`) could not be written; `nil` if it
    /// could.
    package static var reportFailure: String? { StatementTrace.failure }
}
