import CoreData
import Foundation

// The rules for retries. A read is repeated once on a new connection. A save that was not committed is repeated as a
// whole, on a new connection or after the server reported interference by another transaction. A commit is never sent
// twice: if its answer is lost, the history is searched for the transaction's token. If it is not found, the save
// fails. If the server cannot be asked, a different error is thrown, and the next save asks first.

/// The open store: its connection and its tables.
final class ServerSession {
    let opening: ServerOpening
    let line: ServerLine
    let version: ServerStoreVersion
    private(set) var layout: ServerLayout!
    private(set) var history: ServerHistory!
    private(set) var writings: ServerWritings!
    let keys = ServerKeys()
    var ownTransactions = TransactionNumbers()
    /// The number of the newest transaction that was written or seen here.
    private(set) var newestNumber: Int64 = 0
    let readers: ServerReaders
    private let replica: ServerReplica?
    var staged: StagedTransaction?
    var doubt: DoubtfulTransaction?
    /// True while a batch has an open transaction.
    private var isInSteps = false
    private var messages: Int64 = 0
    private var lastAsked: UInt64 = 0
    var lastNumber: Int64?
    /// True if another program has replaced or removed the tables. The session cannot be used any more.
    private(set) var isReplaced = false
    /// The function to call after commits of others.
    private var waking: (queue: DispatchQueue, wake: @Sendable () -> Void)?

    private static let mostAttempts = 6

    init(opening: ServerOpening, connection: any ServerConnection, version: ServerStoreVersion) {
        self.opening = opening
        self.version = version
        line = ServerLine(opening.place, opening.database, live: connection)
        readers = ServerReaders(opening)
        replica = opening.replica.map { ServerReplica($0, version) }
    }

    /// Starts to use the tables with a layout, and listens to commits of others if the store follows them.
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
            throw ServerError(kind: .lost, state: nil, message: "the connection was lost during a transaction")
        }
        return try begun(line.connect())
    }

    /// Checks that a new connection has the same tables, and returns it.
    func begun(_ connection: any ServerConnection) throws -> any ServerConnection {
        // Notifications in the meantime were missed and count as one message.
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
        } catch let error as ServerError where error.kind != .lost {
            // Replicas have no notifications, and neither have some servers with the same protocol. They are polled for
            // the number of the last transaction.
        }
    }

    /// Calls `wake` after commits of others, on this connection and later ones.
    func wake(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) {
        waking = (queue, wake)
        line.live?.whenMessagesCome(on: queue, wake)
    }

    /// Returns the number of the last transaction.
    ///
    /// - Throws: 134100 if the tables are no longer the opened ones.
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

    /// Runs `body` with the connection. Runs it again with a new one if it is lost and no transaction is open.
    func reading<Result>(_ body: (any ServerConnection) throws -> Result) throws -> Result {
        var attempt = 1
        while true {
            let connection = try connection()
            do { return try body(connection) } catch let error as ServerError
                where error.kind == .lost || error.kind == .retry
            {
                if error.kind == .lost { line.drop() }
                // A standby cancels reads that block its replay.
                let most = error.kind == .lost ? 2 : Self.mostAttempts
                guard !isInTransaction, attempt < most else { throw error }
                attempt += 1
                if error.kind == .retry { Self.pause(attempt) }
            } catch let error as ServerError {
                try explain(error)
                throw error
            }
        }
    }

    /// Throws 134100 instead if a statement fails because another program has replaced the tables.
    private func explain(_ error: ServerError) throws {
        guard history != nil, error.saysThatTablesAreGone, let live = line.live, !live.isInTransaction else { return }
        do { _ = try state(live) } catch let other as ServerError where other.saysThatTablesAreGone {
            isReplaced = true
            throw opening.errors.replaced()
        }
    }

    /// A number that grows when another connection has committed. Queries the server at most once a second. In between
    /// it uses notifications; without them (the store is not followed, or some poolers) commits are seen with that
    /// delay. A missing connection is opened in the background, and the number does not change until then.
    func foreignCommits() throws -> Int64 {
        if isReplaced { throw opening.errors.replaced() }
        do {
            var found = line.live
            if found == nil, !isInTransaction, let made = line.connectInBackground() { found = try begun(made) }
            guard let connection = found else { return messages }
            messages += Int64(try connection.takeMessages())
            let now = DispatchTime.now().uptimeNanoseconds
            guard now - lastAsked > Self.longestSilence else { return messages }
            lastAsked = now
            let number = try state(connection)
            if let lastNumber, number != lastNumber { messages += 1 }
            lastNumber = number
        } catch let error as ServerError where error.kind == .lost {
            line.drop()
        } catch let error as ServerError {
            try explain(error)
            throw error
        }
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
    /// - Parameter commits: true if the transaction may be committed in the same round trip. That is done if keys or
    ///   preserved values of deleted rows needed a round trip before, because a separate commit would be a third.
    /// - Throws: ``StoreConflicts``; ``ServerError``; 134100 if the tables were replaced. Everything is then rolled
    ///   back, unless the outcome is unknown (`uncertain`).
    func stage(
        _ changes: StoreChangeSet, metadata: [String: Any]?, store: EngineStore, commits: Bool = false
    ) throws {
        let (rest, earlier) = try settled(changes, in: store)
        derivedRows = earlier
        guard let changes = rest else { return }
        let wasAsked = keys.takeWasAsked()
        var isWhole = commits && (wasAsked || !ServerHistory.withTombstones(changes).isEmpty)
        var attempt = 1
        while true {
            // If the server was away recently, this fails without contacting it.
            let connection = try connection()
            do {
                try write(changes, metadata, store, connection, commits: isWhole)
                return derivedRows.merge(earlier) { later, _ in later }
            } catch let error as ServerError {
                rollBack()
                // The conflicting rows are found by running it again without the commit.
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
                Self.pause(attempt)
            } catch {
                rollBack()
                throw error
            }
        }
    }

    /// Waits for a random time, so that conflicting transactions do not meet again.
    private static func pause(_ attempt: Int) {
        Thread.sleep(forTimeInterval: Double.random(in: 0.005...0.03) * Double(attempt))
    }

    private func write(
        _ changes: StoreChangeSet, _ metadata: [String: Any]?, _ store: EngineStore,
        _ connection: any ServerConnection, commits: Bool
    ) throws {
        var save = ServerSave(changes, layout: layout, store: store, writings: writings)
        let tombstones = try tombstones(changes, store, connection)
        let rows = try save.makeStatements(isGuarded: commits)
        let token = UUID()
        let derived = ServerDerivedRows(changes, layout: layout, store: store)
        var statements = ServerTransactionStart.statements(
            opening.place, store: opening.storeText, isAlone: false, derives: derived.concernsOthers)
        statements.append(ServerStatement("SET CONSTRAINTS ALL DEFERRED"))
        let first = statements.count
        statements += rows
        if let metadata { statements.append(try opening.writing(metadata)) }
        statements.append(ServerStatement("SET CONSTRAINTS ALL IMMEDIATE"))
        let reading = statements.count
        statements += derived.statements
        statements.append(
            history.recording(
                changes, token: token, channel: channel, tombstones: tombstones, version: version, isGuarded: commits))
        derivedRows = [:]
        if commits {
            return try commitAtOnce(statements, token, changes, connection, reading: derived, at: reading)
        }
        let results = try connection.run(statements)
        derivedRows = derived.rows(results[reading...])
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

    /// The rows with derived values of the last save.
    var derivedRows: [NSManagedObjectID: RowSnapshot] = [:]

    /// The changes in ``staged``.
    var written: StoreChangeSet?

    /// Returns the number of a recorded transaction.
    ///
    /// - Throws: 134100 if it has none because the tables were replaced. It is then rolled back.
    func recordedNumber(_ result: (any ServerResult)?, _ connection: any ServerConnection) throws -> Int64 {
        if let result, result.rowCount == 1, case .integer(let number) = result.value(0, 0) { return number }
        rollBack()
        _ = try state(connection)
        throw ServerError(kind: .other, state: nil, message: "the transaction got no number")
    }

    /// Returns the values of deleted rows for the history.
    func tombstones(
        _ changes: StoreChangeSet, _ store: EngineStore, _ connection: any ServerConnection
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

    // MARK: The newest known state

    /// Records that later reads must include a transaction.
    func noteSeen(_ number: Int64) { newestNumber = max(newestNumber, number) }

    /// Returns a connection to the replica, if there is one and it has everything written or seen here. Not in a
    /// transaction, which must see its own changes.
    func replicaConnection() -> (any ServerConnection)? {
        guard let replica, !isInTransaction, history != nil else { return nil }
        return replica.connection(having: newestNumber, history.state)
    }

    /// Records a failed query of the replica.
    func replicaFailed(_ error: ServerError) { replica?.failed(error) }

    // MARK: Batches

    /// Runs `body` in a transaction and commits it.
    func writeInSteps(
        _ engine: ServerEngine, author: String?, contextName: String?, _ body: (any BatchSteps) throws -> Void
    ) throws {
        _ = try settled(nil, in: engine.store)
        // A lost connection is detected here, before anything is done.
        do {
            try reading {
                _ = try $0.run(
                    ServerTransactionStart.statements(
                        opening.place, store: opening.storeText, isAlone: true,
                        derives: !layout.derivingTables.isEmpty))
            }
        } catch {
            rollBack()
            throw error
        }
        isInSteps = true
        defer { isInSteps = false }
        let steps = try ServerSteps(self, connection(), engine, author: author, contextName: contextName)
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
