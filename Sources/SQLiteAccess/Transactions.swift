import CSQLite3

/// How early a transaction takes its locks.
package enum TransactionMode: String, Sendable {
    /// At the first statement that needs one: for reading several things from one state.
    case deferred = "BEGIN DEFERRED"
    /// The writer's lock at once, so that it cannot fail later for want of it.
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

    /// Begins a transaction, runs `body` in it and leaves it open for ``commit()`` or ``rollBack()``; rolls it back when
    /// `body` throws.
    package func opening<Result>(_ mode: TransactionMode = .immediate, _ body: () throws -> Result) throws -> Result {
        if hasFailedToRollBack { rollBack() }
        // Prepared before it is needed, since there may be no memory then.
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

    /// Commits the open transaction, or rolls it back when that fails.
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

    /// Runs `body` so that all it reads is of one state. Inside a transaction it simply runs.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        isInTransaction ? try body() : try transaction(.deferred, body)
    }

    /// Runs `body` in a nested transaction: what it wrote is undone when it throws. `name` is a plain identifier.
    @discardableResult
    package func savepoint<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        try execute("SAVEPOINT \(name)")
        do {
            let result = try body()
            try execute("RELEASE \(name)")
            return result
        } catch {
            // Some failures (a full disk) have rolled back the whole transaction already.
            if isInTransaction {
                try? execute("ROLLBACK TO \(name)")
                try? execute("RELEASE \(name)")
            }
            throw error
        }
    }

    /// Takes back what the open transaction, if there is one, has done.
    package func rollBack() {
        // Some failures (a full disk) have rolled back already, and a second ROLLBACK would only fail.
        if isInTransaction { try? execute(Self.rollback) }
        hasFailedToRollBack = isInTransaction
    }

    private static let rollback = "ROLLBACK"
}
