import Foundation

/// What the store contract asks of every store.
extension ServerStore: StagedSaving {
    func objectID(for key: RowKey) -> NSManagedObjectID {
        if let origin { return origin.objectID(for: key) }
        guard Int(key.entity) < families.count else {
            preconditionFailure("The store \(url?.absoluteString ?? "") has no entity for the key \(key).")
        }
        return NSManagedObjectID(families[Int(key.entity)], reference: key.reference)
    }

    func fetch(_ query: StoreQuery) throws -> StoreQueryResult { try querying { try $0.fetch(query) } }

    func count(_ query: StoreQuery) throws -> Int? { try querying { try $0.count(query) } }

    func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]? { try querying { try $0.groups(query) } }

    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        for (id, row) in zip(ids, try rows(inOrderOf: ids)) { result[id] = row }
        return result
    }

    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        if ids.isEmpty { return [] }
        let begin = DispatchTime.now()
        // A replica may be behind what was read from the server: only the server knows that a row is gone.
        let rows = try querying({ try $0.rows(inOrderOf: ids) }, believesReplica: { !$0.contains { $0 == nil } })
        pace.note(rows: ids.count, since: begin)
        return rows
    }

    var rowsOfQuestion: Int { pace.rowsOfQuestion }

    func destinations(
        of relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(
            zip(ids, try destinations(of: relationship, inOrderOf: ids)), uniquingKeysWith: { first, _ in first })
    }

    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try querying { try $0.destinations(of: relationship, inOrderOf: ids) }
    }

    func obtainPermanentIDs(for entities: [NSEntityDescription]) throws -> [NSManagedObjectID] {
        if entities.isEmpty { return [] }
        try checkWritable()
        return try reading { session, connection in
            let keys = try session.keys.take(
                entities.map { session.layout.serverTable(of: $0) }, session.layout, connection)
            return zip(entities, keys).map { NSManagedObjectID(idFamily(of: $0), reference: $1) }
        }
    }

    func save(_ changes: StoreChangeSet) throws {
        guard !changes.isEmpty || hasUnsavedMetadata else { return }
        try stage(changes, commits: true)
        try commitStaged()
    }

    func stage(_ changes: StoreChangeSet) throws { try stage(changes, commits: false) }

    private func stage(_ changes: StoreChangeSet, commits: Bool) throws {
        try checkWritable()
        try translatingUniqueViolations(of: changes) {
            try writing {
                try $0.stage(changes, metadata: metadataIsDirty ? metadata : nil, store: self, commits: commits)
            }
        }
    }

    func commitStaged() throws {
        let (session, opening) = try open()
        try opening.errors.translating(.saving) { try session.commit() }
        metadataIsDirty = false
    }

    func takeDerivedRows() -> [NSManagedObjectID: RowSnapshot] {
        defer { session?.derivedRows = [:] }
        return session?.derivedRows ?? [:]
    }

    func abandonStaged() { session?.rollBack() }

    // MARK: What others do

    /// Asks nothing of the server: reads, saves and ``dataVersion()`` find out.
    func checkFile() throws {
        let (session, opening) = try open()
        if session.isReplaced { throw opening.errors.replaced() }
    }

    var isAway: Bool {
        guard let session else { return false }
        return session.line.live == nil && !session.isReplaced
    }

    func dataVersion() throws -> Int64 {
        let (session, opening) = try open()
        return try opening.errors.translating(.reading) { try session.foreignCommits() }
    }

    func changeToken() throws -> String {
        try reading { session, connection in "\(try session.number(session.history.lastNumber, connection) ?? 0)" }
    }

    func lastHistoryNumber() throws -> Int64? {
        try reading { session, connection in try session.number(session.history.lastNumber, connection) }
    }

    var lastOwnHistoryNumber: Int64? { session?.ownTransactions.last }

    func history(after number: Int64) throws -> [StoreTransaction] { try history(after: number, withChanges: true) }

    func history(after number: Int64, withChanges: Bool) throws -> [StoreTransaction] {
        try reading { session, connection in
            try session.history.transactions(
                after: number, own: session.ownTransactions, withChanges: withChanges, connection)
        }
    }

    func historyNews(after number: Int64) throws -> HistoryNews {
        try reading { session, connection in
            let news = try session.history.news(after: number, own: session.ownTransactions, connection)
            session.noteSeen(news.transactions.last?.number ?? 0)
            return news
        }
    }

    func wake(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) { session?.wake(on: queue, wake) }

    func lastRemovedHistoryNumber() throws -> Int64 {
        try reading { session, connection in try session.number(session.history.lastRemovedNumber, connection) ?? 0 }
    }

    func firstHistoryNumber(after date: Date) throws -> Int64? {
        try reading { session, connection in try session.number(session.history.firstNumber(after: date), connection) }
    }

    func deleteHistory(before number: Int64) throws -> Int {
        try checkWritable()
        return try reading { session, connection in try session.deleteHistory(before: number, connection) }
    }
}
