import Foundation

/// A store on a server. An engine in another module stores its rows; the scheme of the URL selects the engine.
// SAFETY: used under the coordinator's lock, or, as a reader, by one thread at a time.
package final class EngineStore: NSPersistentStore, RowStore, @unchecked Sendable {
    /// The engine of the store. Set by the initialisers and never changed.
    private var engine: (any StoreEngine)!
    /// For a background reader, the store whose IDs the objects have.
    private let original: EngineStore?
    package var metadataIsDirty = false

    package required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        original = nil
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: url.withoutPassword,
            options: options)
        // An engine refuses a URL of another type when it loads. This class is registered only if there is an engine.
        let type = StoreEngines.type(for: url) ?? StoreEngines.all[0]
        engine = type.engine.init(of: self, at: url)
    }

    /// Creates a background reader of `original`.
    package init(reading original: EngineStore, at url: URL, with engine: any StoreEngine) {
        self.original = original
        super.init(
            persistentStoreCoordinator: nil, configurationName: original.configurationName, at: url.withoutPassword,
            options: original.options)
        self.engine = engine
        isReadOnly = true
    }

    package override var type: String {
        url.flatMap(StoreEngines.type)?.storeType ?? NSPersistentStore.StoreType.postgreSQL.rawValue
    }

    package override var metadata: [String: Any]! { didSet { metadataIsDirty = true } }
    override var hasUnsavedMetadata: Bool { metadataIsDirty }
    package var operations: any StoreOperations { engine }

    package override func loadMetadata() throws { try engine.loadMetadata() }

    override func prepare() throws { try engine.prepare() }

    package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { try? engine.close() }

    override func cachedModelData() throws -> Data? { try engine.cachedModelData() }

    override var migratesInPlace: Bool { true }

    override func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
        try engine.migrateByInference(from: source, to: destination)
    }

    override func reconnect(to url: URL) throws {
        throw CoreDataError.make(
            134080,
            "The store \(self.url?.absoluteString ?? "") cannot continue at \(url.withoutPassword): only files can be moved."
        )
    }

    // MARK: Without a coordinator

    override class var isOnServer: Bool { true }

    override class func holdsNothing(at url: URL) throws -> Bool {
        try StoreEngines.engine(for: url).holdsNothing(at: url)
    }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreEngines.engine(for: url).metadata(at: url)
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try setMetadata(metadata, at: url, options: nil)
    }

    override class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreEngines.engine(for: url).setMetadata(metadata ?? [:], at: url, options: options)
    }

    override class func cachedModelData(at url: URL, options: [AnyHashable: Any]?) throws -> Data? {
        try cachedModelWithMetadata(at: url, options: options)?.model
    }

    override class func cachedModelWithMetadata(
        at url: URL, options: [AnyHashable: Any]?
    ) throws -> (model: Data, metadata: [String: Any])? {
        try StoreEngines.engine(for: url).cachedModelWithMetadata(at: url, options: options)
    }

    override class func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreEngines.engine(for: url).destroyStore(at: url, options: options)
    }

    override class func replaceStore(
        at destination: URL, options: [AnyHashable: Any]?, with source: URL, options sourceOptions: [AnyHashable: Any]?
    ) throws {
        throw CoreDataError.make(
            134080,
            "Cannot replace a store on a server by a file. Copy the rows with migratePersistentStore(_:to:type:) instead."
        )
    }
}
