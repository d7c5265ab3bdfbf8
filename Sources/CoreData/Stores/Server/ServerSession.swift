import Foundation

// What is done again, and what is not. A read goes again on a new connection once. A save that was not committed goes again
// whole: on a new connection, or where the server said that another transaction came in between. A commit is never sent
// twice: where its answer is lost, the history is asked for the token of the transaction; only what it does not have is an
// error.

/// The open store: its connection, and what is known of its tables.
final class ServerSession {
    private let opening: ServerOpening
    private let identifier: String
    private var live: (any ServerConnection)?
    private(set) var layout: ServerLayout!
    private(set) var history: ServerHistory!
    private(set) var writings: ServerWritings!
    let keys = ServerKeys()
    private(set) var ownTransactions = TransactionNumbers()
    /// The transaction that is written and not committed.
    private var staged: (token: UUID, number: Int64)?
    /// Whether a batch has its transaction open.
    private var isInSteps = false
    private var messages: Int64 = 0
    private var lastAsked: UInt64 = 0
    private var lastNumber: Int64?
    private weak var store: NSPersistentStore?

    private static let mostAttempts = 6

    init(opening: ServerOpening, connection: any ServerConnection, identifier: String) {
        self.opening = opening
        self.identifier = identifier
        live = connection
    }

    /// Begins with the tables as the model needs them; from here on commits of others are heard.
    func use(_ layout: ServerLayout, store: NSPersistentStore) throws {
        self.layout = layout
        self.store = store
        history = ServerHistory(layout: layout)
        writings = ServerWritings(layout)
        try listen(connection())
    }

    func close() { live = nil }

    // MARK: The connection

    var channel: String { ServerHistory.channel(identifier) }

    func connection() throws -> any ServerConnection {
        if let live { return live }
        let made = try opening.database.connect(to: opening.place)
        live = made
        // What was told in the meantime was missed: it counts as one message.
        messages += 1
        if layout != nil { try listen(made) }
        return made
    }

    private func listen(_ connection: any ServerConnection) throws {
        _ = try connection.run([ServerStatement("LISTEN \(layout.dialect.quoted(channel))")])
    }

    /// Runs `body` with the connection; once more with a new one, where that is lost and no transaction is open.
    func reading<Result>(_ body: (any ServerConnection) throws -> Result) throws -> Result {
        do { return try body(connection()) } catch let error as ServerError where error.kind == .lost {
            live = nil
            guard staged == nil, !isInSteps else { throw error }
            return try body(connection())
        }
    }

    /// Grows when another connection has committed. Asks the server at most once a second: in between it tells by itself, and
    /// where it does not (behind some poolers), that is how soon it is seen.
    func foreignCommits() throws -> Int64 {
        let connection = try connection()
        messages += Int64(try connection.takeMessages())
        let now = DispatchTime.now().uptimeNanoseconds
        guard now - lastAsked > Self.longestSilence else { return messages }
        lastAsked = now
        let number = try number(history.lastNumber, connection)
        if let lastNumber, number != lastNumber { messages += 1 }
        lastNumber = number
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
    /// - Throws: ``StoreConflicts``; ``ServerError``. Then nothing is left of it.
    func stage(_ changes: StoreChangeSet, metadata: [String: Any]?, store: NSPersistentStore) throws {
        var attempt = 1
        while true {
            do { return try write(changes, metadata, store) } catch let error as ServerError {
                rollBack()
                guard error.kind == .lost || error.kind == .retry, attempt < Self.mostAttempts else { throw error }
                if error.kind == .lost {
                    live = nil
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

    private func write(_ changes: StoreChangeSet, _ metadata: [String: Any]?, _ store: NSPersistentStore) throws {
        let connection = try connection()
        var save = ServerSave(changes, layout: layout, store: store, writings: writings)
        let tombstones = try tombstones(changes, store, connection)
        let rows = try save.makeStatements()
        let token = UUID()
        var statements = [ServerStatement("BEGIN")]
        if let timeout = opening.place.timeout, timeout > 0 {
            statements.append(ServerStatement("SET LOCAL lock_timeout = \(Int(timeout * 1000))"))
        }
        statements.append(ServerStatement("SET CONSTRAINTS ALL DEFERRED"))
        let first = statements.count
        statements += rows
        if let metadata { statements.append(try opening.writing(metadata)) }
        statements.append(ServerStatement("SET CONSTRAINTS ALL IMMEDIATE"))
        statements.append(history.recording(changes, token: token, channel: channel, tombstones: tombstones))
        let results = try connection.run(statements)
        let refused = save.conflicts(results[first..<first + rows.count])
        guard refused.isEmpty else {
            rollBack()
            let queries = ServerQueries(connection: connection, layout: layout, store: store)
            let current = try queries.rows(inOrderOf: refused)
            throw StoreConflicts(rows: zip(refused, current).map { (id: $0, current: $1) })
        }
        guard case .integer(let number)? = results.last?.value(0, 0) else {
            throw ServerError(kind: .other, state: nil, message: "the transaction got no number")
        }
        staged = (token, number)
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

    func commit() throws {
        guard let staged, let live else { return }
        self.staged = nil
        do {
            _ = try live.run([ServerStatement("COMMIT")])
        } catch let error as ServerError where error.kind == .lost {
            self.live = nil
            guard try isCommitted(staged.token) else { throw error }
        } catch {
            rollBack()
            throw error
        }
        ownTransactions.insert(staged.number)
    }

    /// Whether the transaction whose commit was not answered is there. The server may still be about to end it, so it is asked
    /// for a while.
    private func isCommitted(_ token: UUID) throws -> Bool {
        var last: any Error = ServerError(kind: .lost, state: nil, message: "the connection was lost in the commit")
        for attempt in 0..<20 {
            do {
                if try number(history.number(of: token), connection()) != nil { return true }
                // The lock that the transaction holds until its end: the next transaction that gets it comes after it.
                _ = try connection().run([
                    ServerStatement("BEGIN"), ServerStatement("SET LOCAL lock_timeout = 3000"),
                    ServerStatement("SELECT changes FROM \(layout.tableText(ServerStoreTables.store)) FOR UPDATE"),
                    ServerStatement("COMMIT"),
                ])
                return try number(history.number(of: token), connection()) != nil
            } catch let error as ServerError {
                last = error
                if error.kind == .lost { live = nil } else { rollBack() }
                Thread.sleep(forTimeInterval: min(0.05 * Double(attempt + 1), 0.5))
            }
        }
        throw last
    }

    /// Runs `body` with an open transaction, and commits that.
    func writeInSteps(
        store: ServerStore, author: String?, contextName: String?, _ body: (any BatchSteps) throws -> Void
    ) throws {
        // A connection that is lost is found here, where nothing was done yet.
        try reading { _ = try $0.run([ServerStatement("BEGIN")]) }
        let steps = ServerSteps(self, try connection(), store: store, author: author, contextName: contextName)
        isInSteps = true
        defer { isInSteps = false }
        do { try body(steps) } catch {
            rollBack()
            throw error
        }
        guard let written = steps.written else { return rollBack() }
        staged = written
        try commit()
    }

    func rollBack() {
        staged = nil
        guard let live, live.isInTransaction else { return }
        do { _ = try live.run([ServerStatement("ROLLBACK")]) } catch { self.live = nil }
    }
}

/// Keys for new rows, taken from the sequences in blocks.
final class ServerKeys {
    private var free: [String: [Range<Int64>]] = [:]

    /// One key for each of `tables`, in the same order. At most one round trip.
    func take(
        _ tables: [ServerTable], _ layout: ServerLayout, _ connection: any ServerConnection
    ) throws -> [Int64] {
        var wanted: [String: Int] = [:]
        for table in tables { wanted[table.sequence, default: 0] += 1 }
        var statements: [ServerStatement] = []
        var sequences: [String] = []
        for (sequence, count) in wanted {
            let missing = count - (free[sequence] ?? []).reduce(0) { $0 + $1.count }
            guard missing > 0 else { continue }
            let blocks = (Int64(missing) + ServerStoreTables.keysAtOnce - 1) / ServerStoreTables.keysAtOnce
            sequences.append(sequence)
            statements.append(
                ServerStatement(
                    "SELECT nextval(?::regclass) FROM generate_series(1, ?)",
                    [.value(.text(layout.tableText(sequence)), .text), .value(.integer(blocks), .bigint)]))
        }
        for (sequence, result) in zip(sequences, try connection.run(statements)) {
            for row in 0..<result.rowCount {
                guard case .integer(let first) = result.value(row, 0) else { continue }
                free[sequence, default: []].append(first..<first + ServerStoreTables.keysAtOnce)
            }
        }
        // From the end of the lists: taking from the front would move all that is left.
        for sequence in wanted.keys { free[sequence]?.sort { $0.lowerBound > $1.lowerBound } }
        return tables.map { table in
            guard var range = free[table.sequence]?.popLast() else {
                preconditionFailure("There are as many keys as rows.")
            }
            let key = range.removeFirst()
            if !range.isEmpty { free[table.sequence]?.append(range) }
            return key
        }
    }
}
