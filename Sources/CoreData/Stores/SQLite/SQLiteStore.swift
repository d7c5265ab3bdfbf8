import Foundation
import SQLiteAccess

/// A store in an SQLite database with the schema of Apple's framework.
///
/// Opens stores of Apple's framework and keeps all unknown contents: metadata, tables, triggers, indexes. Used under
/// the coordinator's lock.
// SAFETY: used under the coordinator's lock, or, as a reader, by one thread at a time.
class SQLiteStore: NSPersistentStore, RowStore, @unchecked Sendable {
    /// The open file, after ``loadMetadata()``.
    var connection: Connection?
    var session: SQLiteSession?
    /// The open session, for tests that read the tables.
    var openSession: SQLiteSession? { session }
    var changeTokens: ChangeToken?
    var reader = RefreshingReader()
    /// The transactions in the history that this store wrote.
    var ownTransactions = TransactionNumbers()
    /// Rows that the last save derived, until they are taken.
    var derivedRows: [NSManagedObjectID: RowSnapshot] = [:]
    var metadataIsDirty = false
    /// The reader for rows; `nil` for the session, which has the newest state.
    var snapshot: SQLiteSnapshot?
    /// True while the program's code runs during a save, when the session has uncommitted rows.
    var isPaused = false
    /// The shared part of each entity's IDs, by the entity number of ``RowKey``. Set once, before the store is used.
    private var families: [IDFamily] = []

    override var type: String { NSSQLiteStoreType }

    override var metadata: [String: Any]! { didSet { metadataIsDirty = true } }

    override var hasUnsavedMetadata: Bool { metadataIsDirty }

    final var operations: any StoreOperations { self }

    // MARK: What a store that is kept here for another one changes

    /// The store in the IDs of objects.
    var face: NSPersistentStore { self }

    var refusesSaves: Bool { isReadOnly }

    /// Called when a save is written and its transaction is still open.
    func didStage(_ changes: StoreChangeSet) {}

    /// Called before the transaction of a save is committed.
    ///
    /// - Throws: an error that rolls the transaction back.
    func willCommit() throws {}

    /// Called after the transaction of a save was rolled back.
    func didAbandon() {}

    func reserveIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        try withSession(.saving) { try $0.reserveKeys(for: runs) }
    }

    /// Reserves IDs that the store derives from the objects. Always `nil`: numbers of rows do not depend on the
    /// objects.
    func reserveIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]? { nil }

    /// Called after the metadata written by a save was committed.
    func didWriteMetadata() { metadataIsDirty = false }

    func objectID(for key: RowKey) -> NSManagedObjectID {
        guard Int(key.entity) < families.count else {
            preconditionFailure("The store \(url?.path ?? "") has no entity for the key \(key).")
        }
        return NSManagedObjectID(families[Int(key.entity)], reference: key.reference)
    }

    // MARK: Opening

    /// The location of the database, by default `url`.
    var databaseURL: URL? { url }

    func file() throws -> StoreFile {
        var file = try StoreFile(url: databaseURL, options: StoreOptions(options), isReadOnly: isReadOnly)
        file.model = persistentStoreCoordinator?.managedObjectModel
        return file
    }

    func creation(_ file: StoreFile) throws -> StoreCreation {
        guard let model = persistentStoreCoordinator?.managedObjectModel else {
            throw CoreDataError.make(134080, "Cannot open the store \(file.path): its coordinator was deallocated.")
        }
        return try StoreCreation(file: file, model: model, configuration: configurationName)
    }

    override func loadMetadata() throws {
        var file = try file()
        file.newPermissions = self.creation?.permissions
        let creation = try creation(file)
        try creation.checkThatModelMayWrite()
        let isNew = !file.exists
        // Called before the file is created, so that an error leaves no new file.
        let kept = isNew ? try creation.keptModel() : nil
        reader.willOpen(file)
        let opened = try file.open()
        do {
            try file.errors.translating(isNew ? .creating : .opening) {
                if try opened.integer("SELECT COUNT(*) FROM sqlite_master") == 0 {
                    try creation.create(on: opened, keeping: kept ?? creation.keptModel())
                }
                metadata = try StoreMetadata.read(from: opened)
            }
        } catch {
            // A created file stays, empty, because another process may be about to fill it.
            opened.close()
            throw error
        }
        connection = opened
        identifier = metadata[NSStoreUUIDKey] as? String
        metadataIsDirty = false
    }

    override var migratesInPlace: Bool { true }

    override func releaseFile() {
        connection?.close()
        connection = nil
    }

    override func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
        guard let connection else {
            throw CoreDataError.make(134080, "The store \(url?.path ?? "") was not opened.")
        }
        let file = try file()
        let creation = try creation(file)
        try file.errors.translating(.migrating) {
            let migration = try LightweightMigration(
                connection, metadata: metadata, from: source, creation, path: file.path,
                defers: StoreOptions(options).defersMigration)
            metadata = try migration.run(metadata)
        }
        metadataIsDirty = false
    }

    override func finishDeferredMigrationTask() throws -> Bool {
        guard DeferredWork.waits(in: metadata) else { return false }
        guard !isReadOnly else {
            throw CoreDataError.make(
                513, "Cannot finish the migration of the store \(url?.path ?? ""): it was opened read-only.",
                userInfo: [NSFilePathErrorKey: url?.path ?? ""])
        }
        return try withSession(.migrating) { session in
            try session.layout.unreadable.refuseLoss("finish the migration of")
            let noted = try DeferredMigration(connection: session.connection, layout: session.layout).step()
            let wasDirty = metadataIsDirty
            for key in DeferredWork.metadataKeys { metadata[key] = noted[key] }
            metadataIsDirty = wasDirty
            return DeferredWork.waits(in: noted)
        }
    }

    override func prepare() throws {
        guard let connection else {
            throw CoreDataError.make(134080, "The store \(url?.path ?? "") was not opened.")
        }
        let file = try file()
        let creation = try creation(file)
        families = creation.model.entitiesInLayoutOrder.map(face.idFamily)
        session = try file.errors.translating(.opening) {
            if !isReadOnly { try creation.adjust(connection, metadata: &metadata) }
            metadataIsDirty = false
            let session = try makeSession(connection, creation)
            if !isReadOnly { try session.clearUpExternalData() }
            return session
        }
        changeTokens = ChangeToken(path: file.path, identifier: identifier ?? "")
    }

    func makeSession(_ connection: Connection, _ creation: StoreCreation) throws -> SQLiteSession {
        let schema = try StoredSchema(connection, path: creation.file.path)
        let layout = try creation.layout(in: schema, metadata: metadata)
        let session = SQLiteSession(
            connection: connection, layout: layout, file: schema, store: face, path: creation.file.path)
        session.saysLongDecimals = metadata[DecimalCoding.metadataKey] != nil
        if !isReadOnly { try session.listenToTriggers() }
        return session
    }

    func close() throws {
        if let connection, !isReadOnly, isInPlace { changeTokens?.prepareToClose(connection) }
        session = nil
        connection?.close()
        connection = nil
    }

    // MARK: Without a coordinator

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreFiles.metadata(at: url)
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try StoreFiles.setMetadata(metadata ?? [:], at: url)
    }

    override class func cachedModelData(at url: URL, options: [AnyHashable: Any]?) throws -> Data? {
        try StoreFiles.cachedModelData(at: url, options: options)
    }

    override class func inferredModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try StoreFiles.inferredModel(at: url, options: options)
    }

    override class func removeFiles(at url: URL) { StoreFiles.remove(at: url.path) }

    override class func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws {
        let options = StoreOptions(options)
        let file = try StoreFile(url: url, options: options, isReadOnly: false)
        try StoreDestruction(file: file, isForced: options.forcesDestruction).run()
    }

    override class func checkThatNothingIsLeft(at url: URL) throws {
        if url.isMemoryPlace { return }
        try SideFiles(path: url.path).check()
        try SupportFolder(ofStoreAt: url.path).checkThatNothingIsLeft()
    }

    override class var copiesFiles: Bool { true }

    override func reconnect(to newURL: URL) throws { try goOn(with: newURL) }

    override func copyContents(to destination: URL) throws {
        guard session != nil, try file().isInMemory || !isInPlace else {
            return try super.copyContents(to: destination)
        }
        try copyOpenContents(to: destination)
    }

    override class func replaceStore(
        at destination: URL, options: [AnyHashable: Any]?, with source: URL, options sourceOptions: [AnyHashable: Any]?
    ) throws {
        try StoreReplacement(
            source: try StoreFile(url: source, options: StoreOptions(sourceOptions), isReadOnly: true),
            destination: try StoreFile(url: destination, options: StoreOptions(options), isReadOnly: false),
            isForced: StoreOptions(options).forcesDestruction
        ).run()
    }

    // MARK: Access for the operations

    /// Runs `body` with the open session. SQLite's errors become `CocoaError`s.
    func withSession<Result>(
        _ activity: SQLiteStoreErrors.Activity = .reading, _ body: (SQLiteSession) throws -> Result
    ) throws -> Result {
        guard let session = try currentSession() else {
            throw CoreDataError.make(134070, "The store \(url?.path ?? "") is closed.")
        }
        if isPaused {
            throw CoreDataError.make(
                134070,
                "The store \(url?.path ?? "") is saving. A progress observer can read only objects of the "
                    + "saving context.")
        }
        do {
            return try body(session)
        } catch let error as SQLiteError {
            // The timeout is read only on an error, because the options are a dictionary.
            let timeout = StoreOptions(options).timeout ?? StoreFile.defaultTimeout
            throw SQLiteStoreErrors(path: url?.path ?? session.connection.path, timeout: timeout).make(error, activity)
        }
    }

    /// Runs `body`, which reads rows, with the snapshot if there is one, otherwise with the open session.
    func withVisibleSession<Result>(_ body: (SQLiteSession) throws -> Result) throws -> Result {
        guard let snapshot else { return try withSession(.reading, body) }
        return try SQLiteStoreErrors(path: url?.path ?? snapshot.session.connection.path).translating(.reading) {
            try body(snapshot.session)
        }
    }

    /// The session. It is opened again if the file is read without locks and another process has written to it.
    private func currentSession() throws -> SQLiteSession? {
        guard let session, session.connection.access == .immutable, reader.mustReopen else { return session }
        let file = try file()
        var reader = reader
        reader.willOpen(file)
        let opened = try file.open()
        do { try checkThatItIsThisStore(opened) } catch {
            opened.close()
            throw error
        }
        self.reader = reader
        session.connection.close()
        connection = opened
        let renewed = try makeSession(opened, try creation(file))
        self.session = renewed
        return renewed
    }
}
