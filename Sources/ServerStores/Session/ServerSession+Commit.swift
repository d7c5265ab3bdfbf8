import CoreData
import Foundation

/// The commit of staged changes, and the recovery if its answer is lost.
extension ServerSession {
    /// Runs the guarded statements of a save with the commit.
    ///
    /// - Parameter derived: decodes the results of the statements from index `place` on.
    func commitAtOnce(
        _ statements: [ServerStatement], _ token: UUID, _ changes: StoreChangeSet, _ connection: any ServerConnection,
        reading derived: ServerDerivedRows, at place: Int
    ) throws {
        let results: [any ServerResult]
        do { results = try connection.run(statements + [ServerStatement("COMMIT")]) } catch let error as ServerError
            where error.kind == .lost
        {
            // The lowest number that this transaction can have in the history.
            let number = max(newestNumber, lastNumber ?? 0) + 1
            try settle(DoubtfulTransaction(token: token, number: number, changes: changes), after: error)
            derivedRows = noteFound(token, deriving: derived)
            return
        }
        noteOwn(try recordedNumber(results.dropLast().last, connection))
        derivedRows = derived.rows(results[place...])
    }

    /// Records a transaction that was found in the history. Returns the rows with its derived values.
    private func noteFound(_ token: UUID, deriving derived: ServerDerivedRows) -> [NSManagedObjectID: RowSnapshot] {
        guard let live = line.live, let number = try? number(history.search(for: token), live) else { return [:] }
        noteOwn(number)
        return derived.rows(ofTransaction: number, live)
    }

    private func noteOwn(_ number: Int64) {
        ownTransactions.insert(number)
        noteSeen(number)
    }

    /// - Returns: the number of removed transactions.
    func deleteHistory(before number: Int64, _ connection: any ServerConnection) throws -> Int {
        let statements = ServerTransactionStart.bounded(history.removal(before: number), opening.place)
        do {
            let result = try connection.run(statements).dropLast().last
            guard case .integer(let count)? = result?.value(0, 0) else { return 0 }
            return Int(count)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Commits the staged transaction. Does nothing if the save was committed with its statements.
    ///
    /// - Throws: ``ServerError`` if nothing was committed; `uncertain` if that is unknown.
    func commit() throws {
        guard let staged else { return }
        let changes = written
        (self.staged, written) = (nil, nil)
        guard line.live === staged.connection else {
            throw ServerError(
                kind: .lost, state: nil,
                message: "the connection was lost before the commit, so nothing was saved")
        }
        do {
            let result = try staged.connection.run([ServerStatement("COMMIT")])[0]
            guard result.command == "COMMIT" else {
                throw ServerError(
                    kind: .other, state: "25P02",
                    message: "the server rolled back the transaction because one of its statements failed")
            }
        } catch let error as ServerError where error.kind == .lost {
            try settle(
                DoubtfulTransaction(token: staged.token, number: staged.number, changes: changes), after: error)
        } catch {
            rollBack()
            throw error
        }
        noteOwn(staged.number)
    }

    /// Finds the outcome of a transaction whose commit was not answered. Returns normally if it was committed.
    ///
    /// - Throws: `error` if it was not committed; `uncertain` if that is unknown: the next save asks again.
    private func settle(_ doubt: DoubtfulTransaction, after error: ServerError) throws {
        line.drop()
        guard let isThere = isCommitted(doubt) else {
            self.doubt = doubt
            throw doubt.error
        }
        guard isThere else { throw error }
    }

    /// Returns true if the transaction was committed; `nil` if the server cannot be reached or no longer knows. Asks
    /// repeatedly for some time, because the server may still be ending it.
    private func isCommitted(_ doubt: DoubtfulTransaction) -> Bool? {
        let patience = opening.place.lockTimeout == 0 ? 10_000 : min(opening.place.lockTimeout, 10_000)
        let end = DispatchTime.now() + .milliseconds(patience)
        var pause = 0.05
        repeat {
            do {
                return try isThere(doubt, line.live ?? begun(line.connectNow()))
            } catch let error as ServerError {
                if error.kind == .lost { line.drop() } else { rollBack() }
                Thread.sleep(forTimeInterval: pause * Double.random(in: 0.7...1.3))
                pause = min(pause * 1.5, 0.5)
            } catch {
                // The store was migrated while the outcome was unknown, which deleted its history.
                return nil
            }
        } while DispatchTime.now() < end
        return nil
    }

    /// Returns true if the transaction is committed. If not, it never will be.
    ///
    /// - Returns: `nil` if the history was removed up to the transaction's number.
    private func isThere(_ doubt: DoubtfulTransaction, _ connection: any ServerConnection) throws -> Bool? {
        if try hasHistory(of: doubt, connection) == true { return true }
        // A transaction holds this lock from taking its number to its end. If the doubtful one has a number, this waits
        // for its end. If not, its token is inserted here first, so that a late commit of it fails.
        _ = try connection.run([
            ServerStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            ServerStatement("SELECT set_config('lock_timeout', '3s', true)"),
            ServerStatement("SELECT changes FROM \(layout.tableText(ServerStoreTables.store)) FOR UPDATE"),
            history.voiding(doubt.token, version),
            ServerStatement("COMMIT"),
        ])
        return try hasHistory(of: doubt, connection)
    }

    private func hasHistory(of doubt: DoubtfulTransaction, _ connection: any ServerConnection) throws -> Bool? {
        let result = try connection.run([history.search(for: doubt.token)])[0]
        guard result.rowCount == 1, case .integer(let removed) = result.value(0, 1) else { return nil }
        if case .integer = result.value(0, 0) { return true }
        return removed >= doubt.number ? nil : false
    }

    /// Returns the part of a save that is still to be written, after finding the outcome of an unanswered commit; `nil`
    /// for nothing. Also returns the rows with derived values of that transaction.
    func settled(
        _ changes: StoreChangeSet?, in store: EngineStore
    ) throws -> (rest: StoreChangeSet?, derived: [NSManagedObjectID: RowSnapshot]) {
        guard let doubt else { return (changes, [:]) }
        let found: Bool?
        do { found = try isThere(doubt, connection()) } catch {
            rollBack()
            throw error
        }
        guard let isThere = found else {
            // The history can no longer show if the transaction was committed. The error is thrown once more, and then
            // the transaction is ignored.
            self.doubt = nil
            throw doubt.error
        }
        self.doubt = nil
        guard isThere, let changes else { return (changes, [:]) }
        let derived = ServerDerivedRows(doubt.changes ?? changes, layout: layout, store: store)
        return (doubt.rest(of: changes), noteFound(doubt.token, deriving: derived))
    }
}
