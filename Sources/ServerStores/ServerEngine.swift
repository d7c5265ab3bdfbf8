import CoreData
import Foundation

/// Stores rows in the tables of a database server. The URL's scheme selects the server's module. Used under the
/// coordinator's lock, except for readers, each of which has its own connection and is used by one thread at a time.
// SAFETY: used under the coordinator's lock, or, as a reader, by one thread at a time.
package final class ServerEngine: StoreEngine, @unchecked Sendable {
    private weak var holder: EngineStore?
    /// The URL of the store, with the password if it has one.
    let placeURL: URL
    var opening: ServerOpening?
    var session: ServerSession?
    private var families: [IDFamily] = []
    var snapshot: ServerSnapshot?
    private let isReader: Bool
    let pace = ServerPace()

    package init(of store: EngineStore, at url: URL) {
        holder = store
        placeURL = url
        isReader = false
    }

    /// Creates a background reader, whose objects have the IDs of the writer's store.
    init(beside writer: ServerEngine, showing snapshot: ServerSnapshot?) {
        holder = writer.holder
        placeURL = writer.placeURL
        opening = writer.opening
        session = writer.session
        families = writer.families
        self.snapshot = snapshot
        isReader = true
    }

    /// The store in the IDs of objects.
    var store: EngineStore {
        get throws {
            guard let holder else { throw closed }
            return holder
        }
    }

    private var name: String { placeURL.withoutPassword.absoluteString }

    private var closed: NSError { CoreDataError.make(134070, "The store \(name) is closed.") }

    package func objectID(for key: RowKey) -> NSManagedObjectID {
        guard Int(key.entity) < families.count else {
            preconditionFailure("The store \(name) has no entity for the key \(key).")
        }
        return NSManagedObjectID(families[Int(key.entity)], reference: key.reference)
    }

    // MARK: Opening

    private func entities() throws -> (NSManagedObjectModel, [NSEntityDescription]) {
        let store = try store
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else {
            throw CoreDataError.make(134080, "Cannot open the store: its coordinator was deallocated.")
        }
        guard let entities = model.entities(forConfigurationName: store.configurationName) else {
            throw CoreDataError.make(134080, "The model has no configuration named \(store.configurationName).")
        }
        return (model, entities)
    }

    package func loadMetadata() throws {
        let store = try store
        let opening = try ServerOpening(placeURL, options: store.options)
        let connection = try opening.connect()
        var found = try opening.errors.translating(.opening) { try opening.contentsIfPresent(connection) }
        if found == nil {
            guard !store.isReadOnly else {
                throw CoreDataError.make(
                    260, "Cannot open the store \(opening.place.name) read-only: it does not exist.")
            }
            let (model, entities) = try entities()
            try model.checkThatItMayWrite(opening.place.name)
            let isMade = try opening.errors.translating(.creating) {
                try opening.create(on: connection, model: model, entities: entities)
            }
            store.creation?.isMade = isMade
            found = try opening.errors.translating(.opening) { try opening.contentsIfPresent(connection) }
        }
        guard let found else {
            throw CoreDataError.make(260, "Cannot open the store \(opening.place.name): another program removed it.")
        }
        if let creation = store.creation, !creation.isMade {
            throw CoreDataError.make(516, "Cannot create the store \(opening.place.name): it already exists.")
        }
        self.opening = opening
        begin(store, with: found, opening, connection)
    }

    private func begin(
        _ store: EngineStore, with found: ServerOpening.Contents, _ opening: ServerOpening,
        _ connection: any ServerConnection
    ) {
        store.metadata = found.metadata
        store.metadataIsDirty = false
        store.identifier = found.version.identifier
        session = ServerSession(opening: opening, connection: connection, version: found.version)
    }

    package static func holdsNothing(at url: URL) throws -> Bool {
        try opened(url, nil, .opening) { try $0.contentsIfPresent($1) == nil }
    }

    package func cachedModelData() throws -> Data? {
        guard let opening, let session else { return nil }
        return try opening.errors.translating(.opening) { try opening.model(session.connection()) }
    }

    package func prepare() throws {
        guard let opening, let session else {
            throw CoreDataError.make(134080, "The store \(name) was not opened.")
        }
        let (model, entities) = try entities()
        families = model.entitiesInLayoutOrder.map(try store.idFamily)
        try opening.errors.translating(.opening) {
            let connection = try session.connection()
            try session.use(opening.layout(of: entities, on: connection, version: session.version))
        }
    }

    package func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
        guard let opening, let session else {
            throw CoreDataError.make(134080, "The store \(name) was not opened.")
        }
        let store = try store
        let metadata = store.metadata ?? [:]
        let (model, entities) = try entities()
        let kept = metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
        try opening.errors.translating(.migrating) {
            let connection = try session.connection()
            let migrated = try ServerMigration(
                opening: opening, source: source.entitiesInLayoutOrder.filter { kept[$0.name ?? ""] != nil },
                model: model, entities: entities
            ).run(on: connection, from: ServerOpening.Contents(metadata: metadata, version: session.version))
            begin(store, with: migrated, opening, connection)
        }
    }

    package func close() throws {
        if !isReader { session?.close() }
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

    package static func metadata(at url: URL) throws -> [String: Any] {
        try opened(url, nil, .opening) { try $0.metadata($1) }
    }

    package static func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
        try opened(url, options, .saving) { opening, connection in
            _ = try opening.metadata(connection)
            _ = try connection.run(ServerTransactionStart.bounded(opening.writing(metadata), opening.place))
        }
    }

    package static func cachedModelWithMetadata(
        at url: URL, options: [AnyHashable: Any]?
    ) throws -> (model: Data, metadata: [String: Any])? {
        try opened(url, options, .opening) { opening, connection in
            let found = try opening.contents(connection, withModel: true)
            return found.model.map { ($0, found.metadata) }
        }
    }

    package static func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws {
        try opened(url, options, .destroying) { try $0.destroy($1) }
    }

    package static func migrationRehearsal(
        at url: URL, from model: NSManagedObjectModel
    ) throws -> (NSManagedObjectModel) throws -> [String] {
        try ServerRehearsal(storeAt: url, model: model).statements(migratingTo:)
    }

    // MARK: Access for the operations

    func open() throws -> (ServerSession, ServerOpening) {
        guard let session, let opening else { throw closed }
        return (session, opening)
    }

    /// Runs `body`, which only reads. Runs it again on a new connection if the old one is lost.
    func reading<Result>(_ body: (ServerSession, any ServerConnection) throws -> Result) throws -> Result {
        let (session, opening) = try open()
        return try opening.errors.translating(.reading) {
            do { return try session.reading { try body(session, $0) } } catch var error as ServerError {
                error.isOfServerAway = isAway
                throw error
            }
        }
    }

    /// Runs `body` with the snapshot if there is one, otherwise with a replica or the server.
    ///
    /// - Parameter believesReplica: returns false for a replica's result that the server must confirm.
    func querying<Result>(
        _ body: (ServerQueries) throws -> Result, believesReplica: (Result) -> Bool = { _ in true }
    ) throws -> Result {
        let (session, opening) = try open()
        let store = try store
        if let snapshot {
            return try opening.errors.translating(.reading) {
                try body(ServerQueries(connection: snapshot.connection, layout: session.layout, store: store))
            }
        }
        if let replica = session.replicaConnection() {
            do {
                let result = try body(ServerQueries(connection: replica, layout: session.layout, store: store))
                if believesReplica(result) { return result }
            } catch let error as ServerError { session.replicaFailed(error) }
        }
        return try reading { try body(ServerQueries(connection: $1, layout: $0.layout, store: store)) }
    }

    /// Runs `body`, which writes with the open session.
    func writing(_ body: (ServerSession) throws -> Void) throws {
        try checkWritable()
        let (session, opening) = try open()
        try opening.errors.translating(.saving) { try body(session) }
    }

    /// Converts an error for a duplicate unique value to the framework's, which names the objects.
    func translatingUniqueViolations(of changes: StoreChangeSet, _ body: () throws -> Void) throws {
        let (session, opening) = try open()
        do { try body() } catch let error as ServerError where error.kind == .uniqueViolation {
            throw opening.errors.uniqueViolation(error, changes, session.layout)
        }
    }

    func checkWritable() throws {
        let store = try store
        guard store.isReadOnly else { return }
        throw CoreDataError.make(
            513, "Cannot save to the store \(name): it was opened read-only.",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }
}
