import CSQLite3

/// The time at which a transaction takes its locks.
package enum TransactionMode: String, Sendable {
    /// Begins the transaction at the first statement that needs one. For several reads of one state.
    case deferred = "BEGIN DEFERRED"
    /// The write lock at once, so that it cannot fail later for lack of it.
    case immediate = "BEGIN IMMEDIATE"
    case exclusive = "BEGIN EXCLUSIVE"
}

extension Connection {
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs `body` in a transaction: committed when it returns, rolled back when it or the commit throws.
    ///
    /// Not nested: use ``savepoint(_:_:)`` inside.
    @discardableResult
    package func transaction<Result>(_ mode: TransactionMode = .immediate, _ body: () throws -> Result) throws -> Result
    {
        let result = try opening(mode, body)
        try commit()
        return result
    }

    /// Begins a transaction, runs `body` in it and leaves it open for ``commit()`` or ``rollBack()``; rolls it back if
    /// `body` throws.
    package func opening<Result>(_ mode: TransactionMode = .immediate, _ body: () throws -> Result) throws -> Result {
        if hasFailedToRollBack { rollBack() }
        // Prepared in advance, since memory may be exhausted when it is needed.
        try withStatement(Self.rollback) { _ in }
        try execute(mode.rawValue)
        do {
            if mode != .deferred { try watch?.willWrite(self) }
            return try body()
        } catch {
            rollBack()
            throw error
        }
    }

    /// Commits the open transaction, or rolls it back if that fails.
    package func commit() throws {
        do {
            try watch?.willCommit(self)
            try execute("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        watch?.didWrite(self)
    }

    /// Runs `body` so that all its reads are of one state. Inside a transaction it is simply called.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        isInTransaction ? try body() : try transaction(.deferred, body)
    }

    /// Runs `body` in a nested transaction: its changes are undone if it throws. `name` is a plain identifier.
    @discardableResult
    package func savepoint<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        try execute("SAVEPOINT \(name)")
        do {
            let result = try body()
            try execute("RELEASE \(name)")
            return result
        } catch {
            // Some failures (a full disk) have already rolled back the whole transaction.
            if isInTransaction {
                try? execute("ROLLBACK TO \(name)")
                try? execute("RELEASE \(name)")
            }
            throw error
        }
    }

    /// Rolls back the open transaction, if there is one.
    package func rollBack() {
        // Some failures (a full disk) have already rolled back, and a second ROLLBACK would fail.
        if isInTransaction { try? execute(Self.rollback) }
        hasFailedToRollBack = isInTransaction
    }

    private static let rollback = "ROLLBACK"
}
