import Foundation
import SQLiteAccess

/// The operations that contexts and the coordinator use, done by the store's session.
extension SQLiteStore: StagedSaving, BackgroundReading {
    /// Returns `nil` for a store without a file, or not in WAL mode: it cannot be read while its writer writes.
    func makeReader() throws -> (any RowStore)? {
        guard try !file().isInMemory, let snapshot = try makeSnapshot() as? SQLiteSnapshot else { return nil }
        return SQLiteReader.make(for: self, snapshot)
    }

    func cancelling<Result>(
        when isCancelled: @escaping (_ scannedRows: Int) -> Bool, _ body: () throws -> Result
    ) throws -> Result {
        guard let connection = snapshot?.session.connection ?? connection else { return try body() }
        return try connection.cancelling(when: isCancelled, body)
    }

    var answersFromIndexes: Bool { true }

    func fetch(_ query: StoreQuery) throws -> StoreQueryResult {
        try withVisibleSession { session in
            session.context.keepsUncoded = query.keepsUncoded
            defer { session.context.keepsUncoded = false }
            return try session.rowQueries.fetch(query)
        }
    }

    func count(_ query: StoreQuery) throws -> Int? {
        try withVisibleSession { try $0.rowQueries.count(query) }
    }

    func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]? {
        try withVisibleSession { try $0.rowQueries.groups(query) }
    }

    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        if ids.isEmpty { return [] }
        return try withVisibleSession { try $0.rowLookup.rows(inOrderOf: ids) }
    }

    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try withVisibleSession { try $0.toManyQueries.destinations(of: relationship, inOrderOf: ids) }
    }

    func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> DestinationRows? {
        try withVisibleSession {
            try $0.toManyQueries.rows(of: relationship, inOrderOf: owners, limit: limit, most: most)
        }
    }

    func obtainPermanentIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        if runs.isEmpty { return [] }
        try checkWritable()
        return try reserveIDs(for: runs)
    }

    func obtainPermanentIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]? {
        try checkWritable()
        return try reserveIDs(of: objects)
    }

    /// False for a store without a file, because showing its previous state would need a copy.
    var reportsProgress: Bool { (try? file().isInMemory) == false }

    func findLock() throws {
        try checkWritable()
        try withSession(.saving) { session in
            try session.connection.opening {}
            session.connection.rollBack()
        }
    }

    func pauseStaging(_ isPaused: Bool) { self.isPaused = isPaused }

    func save(_ changes: StoreChangeSet) throws {
        guard !changes.isEmpty || hasUnsavedMetadata else { return }
        try stage(changes)
        try commitStaged()
    }

    func stage(_ changes: StoreChangeSet) throws {
        try checkWritable()
        try withSession(.saving) { session in
            do {
                try session.stage(changes, metadata: metadataIsDirty ? metadata : nil)
            } catch let error as SQLiteError where error.kind == .uniqueConstraint {
                throw UniqueViolation(error: error, changes: changes, layout: session.layout).cocoaError(store: face)
            }
        }
        didStage(changes)
    }

    func commitStaged() throws {
        do { try willCommit() } catch {
            abandonStaged()
            throw error
        }
        let outcome = try withSession(.saving) { try $0.commitStaged() }
        didWriteMetadata()
        tellOfLongDecimals()
        noteOwnTransaction(outcome.historyNumber)
        derivedRows = outcome.rows
    }

    /// Records a transaction in the history that this store wrote.
    func noteOwnTransaction(_ number: Int64?) {
        if let number { ownTransactions.insert(number) }
    }

    func takeDerivedRows() -> [NSManagedObjectID: RowSnapshot] {
        defer { derivedRows = [:] }
        return derivedRows
    }

    /// Updates the metadata in memory after a save recorded long decimals.
    ///
    /// - Parameter wroteAll: true if the save wrote all metadata in memory.
    func tellOfLongDecimals(wroteAll: Bool = true) {
        guard let session, session.layout.keepsLongDecimals, !session.saysLongDecimals else { return }
        let wasDirty = metadataIsDirty
        metadata[DecimalCoding.metadataKey] = true
        metadataIsDirty = wasDirty && !wroteAll
        session.saysLongDecimals = true
    }

    func abandonStaged() {
        session?.abandonStaged()
        didAbandon()
    }

    func checkWritable() throws {
        guard refusesSaves else { return }
        throw CoreDataError.make(
            513, "Cannot save to the store \(face.url?.path ?? ""): it was opened read-only.",
            userInfo: [NSAffectedStoresErrorKey: [face]])
    }

    func dataVersion() throws -> Int64 {
        try withSession { session in
            // `data_version` starts again in a reopened connection, so the upper bits count the openings.
            try session.connection.dataVersion() &+ reader.openings << 40
        }
    }

    var readingNotes: [ReadingNote] {
        guard let session else { return [] }
        return session.layout.unreadable.notes + session.context.unreadable.values.sorted { $0.text < $1.text }
    }

    var unreadable: UnreadableProperties { (snapshot?.session ?? session)?.layout.unreadable ?? UnreadableProperties() }

    func storedData(of attribute: NSAttributeDescription, _ id: NSManagedObjectID) throws -> Data? {
        try withVisibleSession { session in
            guard let column = session.layout.column(of: attribute, in: id.entity) else { return nil }
            let table = SQLName.quoted(session.layout.table(of: id.entity))
            let value = try session.connection.value(
                "SELECT \(SQLName.quoted(column)) FROM \(table) WHERE Z_PK = ?", [.integer(id.savedKey)])
            if case .blob(let data)? = value { return data }
            return nil
        }
    }

    var ownChangeCount: Int64? { session.map { $0.connection.totalChanges &+ reader.openings << 40 } }

    func changeToken() throws -> String {
        try withSession { session in try changeTokens?.current(session.connection) ?? UUID().uuidString }
    }
}
