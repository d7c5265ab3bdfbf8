import Foundation

// What is done again, and what is not. A read goes again on a new connection once. A save that was not committed goes again
// whole: on a new connection, or where the server said that another transaction came in between. A commit is never sent
// twice: where its answer is lost, the history is asked for the token of the transaction; what it does not have is an error,
// and what it cannot be asked is an error of its own, after which the next save asks first.

/// The open store: its connection, and what is known of its tables.
final class ServerSession {
    private let opening: ServerOpening
    private let line: ServerLine
    let version: ServerStoreVersion
    private(set) var layout: ServerLayout!
    private(set) var history: ServerHistory!
    private(set) var writings: ServerWritings!
    let keys = ServerKeys()
    private(set) var ownTransactions = TransactionNumbers()
    /// The number of the newest transaction that was written or seen here.
    private(set) var newestNumber: Int64 = 0
    let readers: ServerReaders
    private let replica: ServerReplica?
    private var staged: StagedTransaction?
    private var doubt: DoubtfulTransaction?
    /// Whether a batch has its transaction open.
    private var isInSteps = false
    private var messages: Int64 = 0
    private var lastAsked: UInt64 = 0
    private var lastNumber: Int64?
    /// Whether another program has replaced the tables: the session is of no more use.
    private var isReplaced = false
    /// What is to be called when others have committed.
    private var waking: (queue: DispatchQueue, wake: @Sendable () -> Void)?

    private static let mostAttempts = 6

    init(opening: ServerOpening, connection: any ServerConnection, version: ServerStoreVersion) {
        self.opening = opening
        self.version = version
        line = ServerLine(opening.place, opening.database, live: connection)
        readers = ServerReaders(opening)
        replica = opening.replica.map { ServerReplica($0, version) }
    }

    /// Begins with the tables as the model needs them; from here on commits of others are heard, where they are followed.
    func use(_ layout: ServerLayout) throws {
        let connection = try connection()
        self.layout = layout
        history = ServerHistory(layout: layout)
        writings = ServerWritings(layout)
        try listen(connection)
    }

    func close() {
        line.drop()
        replica?.close()
        readers.close()
    }

    // MARK: The connection

    var channel: String { ServerHistory.channel(version.identifier) }
    private var isInTransaction: Bool { staged != nil || isInSteps }

    func connection() throws -> any ServerConnection {
        if isReplaced { throw opening.errors.replaced() }
        if let live = line.live { return live }
        guard !isInTransaction else {
            throw ServerError(kind: .lost, state: nil, message: "the connection was lost in a transaction")
        }
        return try begun(line.connect())
    }

    /// The connection, once it is known to lead to the same tables.
    private func begun(_ connection: any ServerConnection) throws -> any ServerConnection {
        // What was told in the meantime was missed: it counts as one message.
        messages += 1
        guard layout != nil else { return connection }
        do {
            lastNumber = try state(connection)
            try listen(connection)
        } catch {
            line.drop()
            throw error
        }
        return connection
    }

    private func listen(_ connection: any ServerConnection) throws {
        guard opening.place.isFollowed else { return }
        do {
            _ = try connection.run([ServerStatement("LISTEN \(layout.dialect.quoted(channel))")])
            if let waking { connection.whenMessagesCome(on: waking.queue, waking.wake) }
        } catch let error as ServerError where error.kind == .unwritable {
            // A replica has no notifications: there the number of the last transaction is asked for.
        }
    }

    /// Has `wake` called when others have committed, on this connection and those that follow it.
    func wake(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) {
        waking = (queue, wake)
        line.live?.whenMessagesCome(on: queue, wake)
    }

    /// The number of the last transaction.
    ///
    /// - Throws: 134100 where the tables are no longer those that were opened.
    private func state(_ connection: any ServerConnection) throws -> Int64? {
        let result = try connection.run([history.state])[0]
        guard result.rowCount == 1, case .integer(let changes) = result.value(0, 0),
            case .integer(let number) = result.value(0, 1), case .text(let identifier) = result.value(0, 2),
            ServerStoreVersion(identifier: identifier, number: number) == version
        else {
            isReplaced = true
            throw opening.errors.replaced()
        }
        return changes
    }

    /// Runs `body` with the connection; once more with a new one, where that is lost and no transaction is open.
    func reading<Result>(_ body: (any ServerConnection) throws -> Result) throws -> Result {
        let connection = try connection()
        do { return try body(connection) } catch let error as ServerError where error.kind == .lost {
            line.drop()
            guard !isInTransaction else { throw error }
            return try body(self.connection())
        } catch let error as ServerError {
            try explain(error)
            throw error
        }
    }

    /// Throws 134100 instead, where a statement fails because another program has replaced the tables.
    private func explain(_ error: ServerError) throws {
        guard history != nil, error.state?.hasPrefix("42") == true, let live = line.live, !live.isInTransaction else {
            return
        }
        do { _ = try state(live) } catch let other as ServerError where other.state?.hasPrefix("42") == true {
            isReplaced = true
            throw opening.errors.replaced()
        }
    }

    /// Grows when another connection has committed. Asks the server at most once a second: in between it tells by itself, and
    /// where it does not (the store is not followed, or behind some poolers), that is how soon it is seen. Without a
    /// connection one is made beside the lock, and the number stays as it is until then.
    func foreignCommits() throws -> Int64 {
        if isReplaced { throw opening.errors.replaced() }
        do {
            var found = line.live
            if found == nil, !isInTransaction, let made = line.connectBeside() { found = try begun(made) }
            guard let connection = found else { return messages }
            messages += Int64(try connection.takeMessages())
            let now = DispatchTime.now().uptimeNanoseconds
            guard now - lastAsked > Self.longestSilence else { return messages }
            lastAsked = now
            let number = try state(connection)
            if let lastNumber, number != lastNumber { messages += 1 }
            lastNumber = number
        } catch let error as ServerError where error.kind == .lost { line.drop() }
        return messages
    }

    private static let longestSilence: UInt64 = 1_000_000_000

    func number(_ statement: ServerStatement, _ connection: any ServerConnection) throws -> Int64? {
        let result = try connection.run([statement])[0]
        guard result.rowCount > 0, case .integer(let number) = result.value(0, 0) else { return nil }
        return number
    }

    // MARK: Saving

    /// Writes a save in a transaction that stays open.
    ///
    /// - Parameter commits: whether the transaction may be committed in the same round trip. It is where another was needed
    ///   before it, for keys or for what deleted rows leave behind: with the commit it would be a third.
    /// - Throws: ``StoreConflicts``; ``ServerError``; 134100 where the tables were replaced. Then nothing is left of it, but
    ///   for what is not known (`uncertain`).
    func stage(
        _ changes: StoreChangeSet, metadata: [String: Any]?, store: NSPersistentStore, commits: Bool = false
    ) throws {
        guard let changes = try settled(changes) else { return }
        let wasAsked = keys.takeWasAsked()
        var isWhole = commits && (wasAsked || !ServerHistory.withTombstones(changes).isEmpty)
        var attempt = 1
        while true {
            // A server that is away is not asked again at once.
            let connection = try connection()
            do {
                return try write(changes, metadata, store, connection, commits: isWhole)
            } catch let error as ServerError {
                rollBack()
                // Which rows they are is found without the commit.
                if isWhole, error.state == ServerSave.guardState {
                    isWhole = false
                    continue
                }
                try explain(error)
                guard error.kind == .lost || error.kind == .retry, attempt < Self.mostAttempts else { throw error }
                if error.kind == .lost {
                    line.drop()
                    guard attempt == 1 else { throw error }
                }
                attempt += 1
                // Others that met each other shall not meet again at once.
                Thread.sleep(forTimeInterval: Double.random(in: 0.005...0.03) * Double(attempt))
            } catch {
                rollBack()
                throw error
            }
        }
    }

    private func write(
        _ changes: StoreChangeSet, _ metadata: [String: Any]?, _ store: NSPersistentStore,
        _ connection: any ServerConnection, commits: Bool
    ) throws {
        var save = ServerSave(changes, layout: layout, store: store, writings: writings)
        let tombstones = try tombstones(changes, store, connection)
        let rows = try save.makeStatements(isGuarded: commits)
        let token = UUID()
        var statements = ServerTransactionStart.statements(opening.place, store: version.identifier, isAlone: false)
        statements.append(ServerStatement("SET CONSTRAINTS ALL DEFERRED"))
        let first = statements.count
        statements += rows
        if let metadata { statements.append(try opening.writing(metadata)) }
        statements.append(ServerStatement("SET CONSTRAINTS ALL IMMEDIATE"))
        statements.append(
            history.recording(
                changes, token: token, channel: channel, tombstones: tombstones, version: version, isGuarded: commits))
        if commits { return try commitAtOnce(statements, token, changes, connection) }
        let results = try connection.run(statements)
        let number = try recordedNumber(results.last, connection)
        let refused = save.conflicts(results[first..<first + rows.count])
        guard refused.isEmpty else {
            rollBack()
            let queries = ServerQueries(connection: connection, layout: layout, store: store)
            let current = try queries.rows(inOrderOf: refused)
            throw StoreConflicts(rows: zip(refused, current).map { (id: $0, current: $1) })
        }
        staged = StagedTransaction(token: token, number: number, connection: connection)
        written = changes
    }

    /// Runs the guarded statements of a save, and the commit with them.
    private func commitAtOnce(
        _ statements: [ServerStatement], _ token: UUID, _ changes: StoreChangeSet, _ connection: any ServerConnection
    ) throws {
        let results: [any ServerResult]
        do { results = try connection.run(statements + [ServerStatement("COMMIT")]) } catch let error as ServerError
            where error.kind == .lost
        {
            line.drop()
            // What it would at least have as its number.
            let doubt = DoubtfulTransaction(
                token: token, number: max(newestNumber, lastNumber ?? 0) + 1, changes: changes)
            guard let isThere = isCommitted(doubt) else {
                self.doubt = doubt
                throw doubt.error
            }
            guard isThere, let live = line.live else { throw error }
            if let number = try? number(history.search(for: token), live) { noteOwn(number) }
            return
        }
        noteOwn(try recordedNumber(results.dropLast().last, connection))
    }

    private func noteOwn(_ number: Int64) {
        ownTransactions.insert(number)
        noteSeen(number)
    }

    /// What ``staged`` writes.
    private var written: StoreChangeSet?

    /// The number that a transaction got.
    ///
    /// - Throws: 134100 where it got none because the tables were replaced. Nothing is left of the transaction then.
    func recordedNumber(_ result: (any ServerResult)?, _ connection: any ServerConnection) throws -> Int64 {
        if let result, result.rowCount == 1, case .integer(let number) = result.value(0, 0) { return number }
        rollBack()
        _ = try state(connection)
        throw ServerError(kind: .other, state: nil, message: "the transaction got no number")
    }

    /// The values that deleted rows leave in the history.
    func tombstones(
        _ changes: StoreChangeSet, _ store: NSPersistentStore, _ connection: any ServerConnection
    ) throws -> [NSManagedObjectID: String] {
        let wanted = ServerHistory.withTombstones(changes)
        guard !wanted.isEmpty else { return [:] }
        let queries = ServerQueries(connection: connection, layout: layout, store: store)
        var result: [NSManagedObjectID: String] = [:]
        for (id, row) in zip(wanted, try queries.rows(inOrderOf: wanted)) {
            if let row { result[id] = ServerHistory.tombstone(row, of: id.entity) }
        }
        return result
    }

    // MARK: Commits

    /// Does nothing where the save was committed with its statements.
    ///
    /// - Throws: ``ServerError`` where nothing was committed; `uncertain` where that is not known.
    func commit() throws {
        guard let staged else { return }
        let changes = written
        (self.staged, written) = (nil, nil)
        guard line.live === staged.connection else {
            throw ServerError(
                kind: .lost, state: nil,
                message: "the connection was lost, and the transaction with it, before the commit")
        }
        do {
            let result = try staged.connection.run([ServerStatement("COMMIT")])[0]
            guard result.command == "COMMIT" else {
                throw ServerError(
                    kind: .other, state: "25P02",
                    message: "the server has taken the transaction back, because one of its statements had failed")
            }
        } catch let error as ServerError where error.kind == .lost {
            line.drop()
            let doubt = DoubtfulTransaction(token: staged.token, number: staged.number, changes: changes)
            guard let isThere = isCommitted(doubt) else {
                self.doubt = doubt
                throw doubt.error
            }
            guard isThere else { throw error }
        } catch {
            rollBack()
            throw error
        }
        noteOwn(staged.number)
    }

    /// Notes that what is read from now on must hold a transaction.
    func noteSeen(_ number: Int64) { newestNumber = max(newestNumber, number) }

    /// A connection to the replica, where there is one and it has all that was written or seen here; not within a
    /// transaction, which sees what it writes itself.
    func replicaConnection() -> (any ServerConnection)? {
        guard let replica, !isInTransaction, history != nil else { return nil }
        return replica.connection(having: newestNumber, history.state)
    }

    /// Notes that the replica did not do what was asked of it.
    func replicaFailed(_ error: ServerError) { replica?.failed(error) }

    /// Whether the transaction whose commit was not answered is there; `nil` where the server cannot be asked, or no longer
    /// knows. It may still be about to end it, so it is asked for a while.
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
                // Migrated meanwhile, and its history begun anew.
                return nil
            }
        } while DispatchTime.now() < end
        return nil
    }

    /// `nil` where the part of the history in which the transaction would stand was removed.
    private func isThere(_ doubt: DoubtfulTransaction, _ connection: any ServerConnection) throws -> Bool? {
        if try hasHistory(of: doubt, connection) == true { return true }
        // The lock that the transaction holds until its end: who gets it comes after it.
        _ = try connection.run([
            ServerStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            ServerStatement("SELECT set_config('lock_timeout', '3s', true)"),
            ServerStatement("SELECT changes FROM \(layout.tableText(ServerStoreTables.store)) FOR UPDATE"),
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

    /// What of a save is still to be written, once it is known what became of the one whose commit was not answered; `nil`
    /// for nothing.
    private func settled(_ changes: StoreChangeSet?) throws -> StoreChangeSet? {
        guard let doubt else { return changes }
        let found: Bool?
        do { found = try isThere(doubt, connection()) } catch {
            rollBack()
            throw error
        }
        guard let isThere = found else {
            // It will never be known: said once more, and then left behind.
            self.doubt = nil
            throw doubt.error
        }
        self.doubt = nil
        guard isThere, let changes else { return changes }
        return doubt.rest(of: changes)
    }

    // MARK: Batches

    /// Runs `body` with an open transaction, and commits that.
    func writeInSteps(
        store: ServerStore, author: String?, contextName: String?, _ body: (any BatchSteps) throws -> Void
    ) throws {
        _ = try settled(nil)
        // A connection that is lost is found here, where nothing was done yet.
        do {
            try reading {
                _ = try $0.run(
                    ServerTransactionStart.statements(opening.place, store: version.identifier, isAlone: true))
            }
        } catch {
            rollBack()
            throw error
        }
        isInSteps = true
        defer { isInSteps = false }
        let steps = ServerSteps(self, try connection(), store: store, author: author, contextName: contextName)
        do { try body(steps) } catch {
            rollBack()
            throw error
        }
        guard let written = steps.written else { return rollBack() }
        staged = written
        try commit()
    }

    func rollBack() {
        (staged, written) = (nil, nil)
        guard let live = line.live, live.isInTransaction else { return }
        do { _ = try live.run([ServerStatement("ROLLBACK")]) } catch { line.drop() }
    }
}
