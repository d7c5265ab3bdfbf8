import SQLiteAccess

/// A transaction written in steps, each like a save, with one transaction in the history.
///
/// Memory used by a step is released after it.
final class SteppedSave: BatchSteps {
    let session: SQLiteSession
    private let store: NSPersistentStore
    private let author: String?
    private let contextName: String?
    let files: ExternalDataChanges
    /// The number of the save's transaction in the history; `nil` until the first row was written.
    var historyNumber: Int64?
    /// The insertion of many rows at once for each entity; `nil` if that is not possible.
    private var insertions: [ObjectIdentifier: SetInsertion?] = [:]
    var indexes: PostponedIndexes

    init(_ session: SQLiteSession, store: NSPersistentStore, author: String?, contextName: String?) {
        self.session = session
        self.store = store
        self.author = author
        self.contextName = contextName
        files = ExternalDataChanges(session.context.externalData)
        indexes = PostponedIndexes(session.connection)
    }

    /// Runs `body` in a transaction and commits it.
    func run(_ body: (any BatchSteps) throws -> Void) throws {
        let cacheSize = try session.raiseCacheSize(to: SQLiteSession.batchCache)
        defer { session.restoreCacheSize(cacheSize) }
        do {
            try session.connection.opening {
                try body(self)
                try indexes.makeAnew()
                try session.noteLongDecimals()
                try files.sync(session.referred)
            }
        } catch {
            files.didRollBack()
            throw error
        }
        do { try session.connection.commit() } catch {
            files.didFailToCommit()
            throw error
        }
        files.didCommit()
    }

    func write(_ changes: StoreChangeSet) throws {
        guard !changes.isEmpty else { return }
        try session.layout.unreadable.check(changes)
        session.affectedRows.removeAll()
        let history = session.hasHistory ? session.historyWriter : nil
        let tombstones = try history?.tombstones(of: changes.deleted) ?? [:]
        try writeRows(of: changes)
        guard let history else {
            _ = try session.derivedUpkeep.finish(changes)
            return
        }
        var recorded = changes
        recorded.updated += try session.derivedUpkeep.finish(changes).others
        try history.append(recorded, tombstones: tombstones, to: try transaction(history))
    }

    /// Returns the transaction of the history, which begins with the first change.
    func transaction(_ history: HistoryWriter) throws -> Int64 {
        if let historyNumber { return historyNumber }
        let number = try history.begin(author: author, contextName: contextName)
        historyNumber = number
        return number
    }

    func insertion(of entity: NSEntityDescription) throws -> SetInsertion? {
        if let known = insertions[ObjectIdentifier(entity)] { return known }
        let made = try SetInsertion(entity, session, files)
        insertions[ObjectIdentifier(entity)] = .some(made)
        return made
    }

    private func writeRows(of changes: StoreChangeSet) throws {
        let transaction = SaveTransaction(
            connection: session.connection, layout: session.layout, statements: session.statements,
            externalData: files)
        do {
            let refused = try transaction.write(changes, vacatesUniqueValues: false)
            guard let first = refused.first else { return }
            throw CoreDataError.make(
                134030,
                "Cannot write a batch to \(session.connection.path): the row of '\(first)' differs from what was just read. "
                    + "The file is damaged; run roster check.")
        } catch let error as SQLiteError where error.kind == .uniqueConstraint {
            throw UniqueViolation(error: error, changes: changes, layout: session.layout).cocoaError(store: store)
        }
    }

    func reserveIDs(_ count: Int, of entity: NSEntityDescription) throws -> [NSManagedObjectID] {
        let first = try PrimaryKeys(connection: session.connection).reserve(
            Int64(count), entity: session.layout.number(of: entity.root), table: session.layout.table(of: entity.root))
        return Array(session.ids.newIDs(entity: entity, from: first, count: count))
    }
}

extension SQLiteStore: BatchWriting {
    func writeInSteps(
        author: String?, contextName: String?, _ body: (any BatchSteps) throws -> Void
    ) throws {
        guard face === self else {
            throw CoreDataError.make(
                134091,
                "The store \(face.url?.path ?? "") does not support batch requests. Save objects instead.")
        }
        try checkWritable()
        let number = try reading(from: nil) {
            try withSession(.saving) { session in
                let save = SteppedSave(session, store: face, author: author, contextName: contextName)
                try save.run(body)
                return save.historyNumber
            }
        }
        tellOfLongDecimals(wroteAll: false)
        noteOwnTransaction(number)
    }
}
