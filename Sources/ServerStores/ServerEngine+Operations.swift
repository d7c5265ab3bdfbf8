import CoreData
import Foundation

/// The operations that contexts and the coordinator use.
extension ServerEngine: StagedSaving {
    package func fetch(_ query: StoreQuery) throws -> StoreQueryResult { try querying { try $0.fetch(query) } }

    package func count(_ query: StoreQuery) throws -> Int? { try querying { try $0.count(query) } }

    package func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]? {
        try querying { try $0.groups(query) }
    }

    package func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        if ids.isEmpty { return [] }
        let begin = DispatchTime.now()
        // A replica may be behind the server, so only the server decides that a row does not exist.
        let rows = try querying({ try $0.rows(inOrderOf: ids) }, believesReplica: { !$0.contains { $0 == nil } })
        pace.note(rows: ids.count, since: begin)
        return rows
    }

    package var rowsOfQuestion: Int { pace.rowsOfQuestion }

    package func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try querying { try $0.destinations(of: relationship, inOrderOf: ids) }
    }

    package func obtainPermanentIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        if runs.isEmpty { return [] }
        try checkWritable()
        let store = try store
        let entities = runs.flatMap { repeatElement($0.entity, count: $0.count) }
        return try reading { session, connection in
            let keys = try session.keys.take(
                entities.map { session.layout.serverTable(of: $0) }, session.layout, connection)
            return zip(entities, keys).map { NSManagedObjectID(store.idFamily(of: $0), reference: $1) }
        }
    }

    package func save(_ changes: StoreChangeSet) throws {
        guard try !changes.isEmpty || store.metadataIsDirty else { return }
        try stage(changes, commits: true)
        try commitStaged()
    }

    package func stage(_ changes: StoreChangeSet) throws { try stage(changes, commits: false) }

    private func stage(_ changes: StoreChangeSet, commits: Bool) throws {
        try checkWritable()
        let store = try store
        try translatingUniqueViolations(of: changes) {
            try writing {
                try $0.stage(
                    changes, metadata: store.metadataIsDirty ? store.metadata : nil, store: store, commits: commits)
            }
        }
    }

    package func commitStaged() throws {
        let (session, opening) = try open()
        try opening.errors.translating(.saving) { try session.commit() }
        try store.metadataIsDirty = false
    }

    package func takeDerivedRows() -> [NSManagedObjectID: RowSnapshot] {
        defer { session?.derivedRows = [:] }
        return session?.derivedRows ?? [:]
    }

    package func abandonStaged() { session?.rollBack() }

    // MARK: Commits of others

    /// Sends nothing to the server: reads, saves and ``dataVersion()`` find replaced tables.
    package func checkFile() throws {
        let (session, opening) = try open()
        if session.isReplaced { throw opening.errors.replaced() }
    }

    package var isAway: Bool {
        guard let session else { return false }
        return session.line.live == nil && !session.isReplaced
    }

    package func dataVersion() throws -> Int64 {
        let (session, opening) = try open()
        return try opening.errors.translating(.reading) { try session.foreignCommits() }
    }

    package func changeToken() throws -> String {
        try reading { session, connection in "\(try session.number(session.history.lastNumber, connection) ?? 0)" }
    }

    package func lastHistoryNumber() throws -> Int64? {
        try reading { session, connection in try session.number(session.history.lastNumber, connection) }
    }

    package var lastOwnHistoryNumber: Int64? { session?.ownTransactions.last }

    package func history(after number: Int64) throws -> [StoreTransaction] {
        try history(after: number, withChanges: true)
    }

    package func history(after number: Int64, withChanges: Bool) throws -> [StoreTransaction] {
        try reading { session, connection in
            try session.history.transactions(
                after: number, own: session.ownTransactions, withChanges: withChanges, connection)
        }
    }

    package func historyNews(after number: Int64) throws -> HistoryNews {
        try reading { session, connection in
            let news = try session.history.news(after: number, own: session.ownTransactions, connection)
            session.noteSeen(news.transactions.last?.number ?? 0)
            return news
        }
    }

    package func wake(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) {
        session?.wake(on: queue, wake)
    }

    package func lastRemovedHistoryNumber() throws -> Int64 {
        try reading { session, connection in try session.number(session.history.lastRemovedNumber, connection) ?? 0 }
    }

    package func firstHistoryNumber(after date: Date) throws -> Int64? {
        try reading { session, connection in try session.number(session.history.firstNumber(after: date), connection) }
    }

    package func deleteHistory(before number: Int64) throws -> Int {
        try checkWritable()
        return try reading { session, connection in try session.deleteHistory(before: number, connection) }
    }
}
