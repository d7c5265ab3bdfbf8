import Foundation

/// A store in the tables of a database server, whose module is found by the scheme of the URL. Used under the coordinator's
/// lock, but for its readers: each of those has a connection of its own, and is used by one thread at a time.
// SAFETY: used under the coordinator's lock, or, as a reader, by one thread at a time.
final class ServerStore: NSPersistentStore, RowStore, @unchecked Sendable {
    /// The URL with the password that it may have: `url` has none.
    var placeURL: URL
    var opening: ServerOpening?
    var session: ServerSession?
    var metadataIsDirty = false
    private(set) var families: [IDFamily] = []
    var snapshot: ServerSnapshot?
    /// Of a background reader: the store whose IDs the objects carry. Set once, before the reader is used.
    var origin: ServerStore?
    var face: ServerStore { origin ?? self }
    let pace = ServerPace()

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        placeURL = url
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: url.withoutPassword,
            options: options)
    }

    override var type: String {
        ServerDatabases.database(for: placeURL)?.storeType ?? NSPersistentStore.StoreType.postgreSQL.rawValue
    }

    override var metadata: [String: Any]! { didSet { metadataIsDirty = true } }
    override var hasUnsavedMetadata: Bool { metadataIsDirty }
    var operations: any StoreOperations { self }

    // MARK: Opening

    private func entities() throws -> (NSManagedObjectModel, [NSEntityDescription]) {
        guard let model = persistentStoreCoordinator?.managedObjectModel else {
            throw CoreDataError.make(134080, "Cannot open the store: its coordinator is gone.")
        }
        guard let entities = model.entities(forConfigurationName: configurationName) else {
            throw CoreDataError.make(134080, "The model has no configuration named \(configurationName).")
        }
        return (model, entities)
    }

    override func loadMetadata() throws {
        let opening = try ServerOpening(placeURL, options: options)
        let connection = try opening.connect()
        var found = try opening.errors.translating(.opening) { try opening.contentsIfPresent(connection) }
        if found == nil {
            guard !isReadOnly else {
                throw CoreDataError.make(
                    260, "Cannot open the store \(opening.place.name) read-only: there is none.")
            }
            let (model, entities) = try entities()
            try model.checkThatItMayWrite(opening.place.name)
            let isMade = try opening.errors.translating(.creating) {
                try opening.create(on: connection, model: model, entities: entities)
            }
            creation?.isMade = isMade
            found = try opening.errors.translating(.opening) { try opening.contentsIfPresent(connection) }
        }
        guard let found else {
            throw CoreDataError.make(260, "Cannot open the store \(opening.place.name): it was removed meanwhile.")
        }
        if let creation, !creation.isMade {
            throw CoreDataError.make(516, "Cannot make the store \(opening.place.name): there is one already.")
        }
        self.opening = opening
        begin(with: found, opening, connection)
    }

    private func begin(
        with found: ServerOpening.Contents, _ opening: ServerOpening, _ connection: any ServerConnection
    ) {
        metadata = found.metadata
        metadataIsDirty = false
        identifier = found.version.identifier
        session = ServerSession(opening: opening, connection: connection, version: found.version)
    }

    override class var isOnServer: Bool { true }

    override class func holdsNothing(at url: URL) throws -> Bool {
        try opened(url, nil, .opening) { try $0.contentsIfPresent($1) == nil }
    }

    override func cachedModelData() throws -> Data? {
        guard let opening, let session else { return nil }
        return try opening.errors.translating(.opening) { try opening.model(session.connection()) }
    }

    override func prepare() throws {
        guard let opening, let session else {
            throw CoreDataError.make(134080, "The store \(url?.absoluteString ?? "") was not opened.")
        }
        let (model, entities) = try entities()
        families = model.entitiesInLayoutOrder.map(idFamily)
        try opening.errors.translating(.opening) {
            let connection = try session.connection()
            try session.use(opening.layout(of: entities, on: connection, version: session.version))
        }
    }

    override var migratesInPlace: Bool { true }

    override func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
        guard let opening, let session else {
            throw CoreDataError.make(134080, "The store \(url?.absoluteString ?? "") was not opened.")
        }
        let (model, entities) = try entities()
        let kept = metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
        try opening.errors.translating(.migrating) {
            let connection = try session.connection()
            let migrated = try ServerMigration(
                opening: opening, source: source.entitiesInLayoutOrder.filter { kept[$0.name ?? ""] != nil },
                model: model, entities: entities
            ).run(on: connection, from: ServerOpening.Contents(metadata: metadata, version: session.version))
            begin(with: migrated, opening, connection)
        }
    }

    func close() throws {
        if origin == nil { session?.close() }
        session = nil
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        if origin == nil { session?.close() }
        session = nil
    }

    // MARK: Without a coordinator

    private static func opened<Result>(
        _ url: URL, _ options: [AnyHashable: Any]?, _ activity: ServerStoreErrors.Activity,
        _ body: (ServerOpening, any ServerConnection) throws -> Result
    ) throws -> Result {
        let opening = try ServerOpening(url, options: options)
        let connection = try opening.connect(activity)
        let result = try opening.errors.translating(activity) { try body(opening, connection) }
        if activity == .opening { ServerSpares.keep(connection, for: opening.place) }
        return result
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try opened(url, nil, .opening) { try $0.metadata($1) }
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try setMetadata(metadata, at: url, options: nil)
    }

    override class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try opened(url, options, .saving) { opening, connection in
            _ = try opening.metadata(connection)
            _ = try connection.run(ServerTransactionStart.bounded(opening.writing(metadata ?? [:]), opening.place))
        }
    }

    override class func cachedModelData(at url: URL, options: [AnyHashable: Any]?) throws -> Data? {
        try cachedModelWithMetadata(at: url, options: options)?.model
    }

    override class func cachedModelWithMetadata(
        at url: URL, options: [AnyHashable: Any]?
    ) throws -> (model: Data, metadata: [String: Any])? {
        try opened(url, options, .opening) { opening, connection in
            let found = try opening.contents(connection, withModel: true)
            return found.model.map { ($0, found.metadata) }
        }
    }

    override class func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws {
        try opened(url, options, .destroying) { try $0.destroy($1) }
    }

    override class func replaceStore(
        at destination: URL, options: [AnyHashable: Any]?, with source: URL, options sourceOptions: [AnyHashable: Any]?
    ) throws {
        throw CoreDataError.make(
            134080,
            "A store on a server is not replaced by a file's: copy the rows (migratePersistentStore(_:to:type:)) instead."
        )
    }

    override func reconnect(to url: URL) throws {
        throw CoreDataError.make(
            134080,
            "The store \(self.url?.absoluteString ?? "") cannot go on at \(url.withoutPassword): it is not moved like a file."
        )
    }

    // MARK: Access for the operations

    func open() throws -> (ServerSession, ServerOpening) {
        guard let session, let opening else {
            throw CoreDataError.make(134070, "The store \(url?.absoluteString ?? "") is closed.")
        }
        return (session, opening)
    }

    /// Runs `body`, which only reads; again on a new connection where the old one broke.
    func reading<Result>(_ body: (ServerSession, any ServerConnection) throws -> Result) throws -> Result {
        let (session, opening) = try open()
        return try opening.errors.translating(.reading) {
            do { return try session.reading { try body(session, $0) } } catch var error as ServerError {
                error.isOfServerAway = isAway
                throw error
            }
        }
    }

    /// The same, of what the snapshot in use shows.
    ///
    /// - Parameter believesReplica: False for an answer of a replica about which the server is asked too.
    func querying<Result>(
        _ body: (ServerQueries) throws -> Result, believesReplica: (Result) -> Bool = { _ in true }
    ) throws -> Result {
        let (session, opening) = try open()
        if let snapshot {
            return try opening.errors.translating(.reading) {
                try body(ServerQueries(connection: snapshot.connection, layout: session.layout, store: face))
            }
        }
        if let replica = session.replicaConnection() {
            do {
                let result = try body(ServerQueries(connection: replica, layout: session.layout, store: self))
                if believesReplica(result) { return result }
            } catch let error as ServerError { session.replicaFailed(error) }
        }
        return try reading { try body(ServerQueries(connection: $1, layout: $0.layout, store: self)) }
    }

    /// Runs `body`, which writes with the open session.
    func writing(_ body: (ServerSession) throws -> Void) throws {
        try checkWritable()
        let (session, opening) = try open()
        try opening.errors.translating(.saving) { try body(session) }
    }

    /// An error of a unique value becomes the framework's, which says whose it is.
    func translatingUniqueViolations(of changes: StoreChangeSet, _ body: () throws -> Void) throws {
        let (session, opening) = try open()
        do { try body() } catch let error as ServerError where error.kind == .uniqueViolation {
            throw opening.errors.uniqueViolation(error, changes, session.layout)
        }
    }

    func checkWritable() throws {
        guard isReadOnly else { return }
        throw CoreDataError.make(
            513, "Cannot save to the store \(url?.absoluteString ?? ""): it was opened read-only.",
            userInfo: [NSAffectedStoresErrorKey: [self]])
    }
}
