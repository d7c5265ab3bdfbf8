import Foundation

// Another module cannot override members of `NSPersistentStore` that are not public. A store whose rows another module
// keeps is therefore an ``EngineStore``, with an engine from that module.

/// Stores the rows of an ``EngineStore``. Called under the rules of ``StoreOperations``.
package protocol StoreEngine: StoreOperations {
    /// Connects to nothing. The engine must not retain `store`, which retains the engine.
    ///
    /// - Parameter url: may contain a password; the store's own URL does not.
    init(of store: EngineStore, at url: URL)

    /// Opens or creates the store, and sets the metadata and the identifier of the ``EngineStore``.
    func loadMetadata() throws

    /// See `NSPersistentStore.prepare()`.
    func prepare() throws

    /// See `NSPersistentStore.migrateByInference(from:to:)`.
    func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws

    /// Returns the model cached in the loaded store, as data of a compiled model.
    func cachedModelData() throws -> Data?

    // MARK: Without a coordinator

    /// True if there is no store at `url`.
    static func holdsNothing(at url: URL) throws -> Bool

    static func metadata(at url: URL) throws -> [String: Any]

    static func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws

    /// Returns the model that the store keeps, and the store's metadata; `nil` if the store keeps no model.
    static func cachedModelWithMetadata(
        at url: URL, options: [AnyHashable: Any]?
    ) throws -> (model: Data, metadata: [String: Any])?

    static func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws

    /// Returns a function that gives a migration's statements without running them; each call starts where the last
    /// ended.
    static func migrationRehearsal(
        at url: URL, from model: NSManagedObjectModel
    ) throws -> (NSManagedObjectModel) throws -> [String]
}

/// A store type whose engine is in another module.
package protocol StoreEngineType: AnyObject, Sendable {
    /// The string of the store type.
    static var storeType: String { get }
    static var schemes: [String] { get }
    static var engine: any StoreEngine.Type { get }
}

/// The store types whose modules are linked into the program.
package enum StoreEngines {
    /// The classes by which linked modules are found. A program does not have to register them.
    private static let classNames = ["CoreDataPostgreSQL.PostgreSQLDatabase"]
    static let all: [any StoreEngineType.Type] = classNames.compactMap {
        NSClassFromString($0) as? any StoreEngineType.Type
    }

    package static func type(for url: URL) -> (any StoreEngineType.Type)? {
        all.first { $0.schemes.contains(url.scheme ?? "") }
    }

    static func engine(for url: URL) throws -> any StoreEngine.Type {
        guard let type = type(for: url) else { throw unknown(url) }
        return type.engine
    }

    package static func unknown(_ url: URL) -> NSError { unknown("the store \(url.withoutPassword.absoluteString)") }

    /// Returns the error for a store on a server in a program without the module.
    static func unknown(_ what: String) -> NSError {
        CoreDataError.make(
            134000,
            "Cannot open \(what): this program was built without PostgreSQL. Build it with the package trait PostgreSQL "
                + "(swift build --traits PostgreSQL) and the product CoreDataPostgreSQL.")
    }
}
