import Foundation

// Another module cannot override the members of `NSPersistentStore` that are not public. A store whose rows are kept by another
// module is therefore an ``EngineStore`` of this one, which has an engine of that one.

/// Keeps the rows of an ``EngineStore``. Used as ``StoreOperations`` say.
package protocol StoreEngine: StoreOperations {
    /// Touches nothing. The engine must not retain `store`, which retains it.
    ///
    /// - Parameter url: with the password that it may have: the store's own URL has none.
    init(of store: EngineStore, at url: URL)

    /// Opens the store, or makes a new one, and sets the metadata and the identifier of the ``EngineStore``.
    func loadMetadata() throws

    /// See `NSPersistentStore.prepare()`.
    func prepare() throws

    /// See `NSPersistentStore.migrateByInference(from:to:)`.
    func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws

    /// The model cached in the store, which was loaded, as a compiled model's data.
    func cachedModelData() throws -> Data?

    // MARK: Without a coordinator

    /// Whether there is no store at `url`.
    static func holdsNothing(at url: URL) throws -> Bool

    static func metadata(at url: URL) throws -> [String: Any]

    static func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws

    /// `nil` if the store keeps no model.
    static func cachedModelWithMetadata(
        at url: URL, options: [AnyHashable: Any]?
    ) throws -> (model: Data, metadata: [String: Any])?

    static func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws

    /// Gives the statements of a migration to a version of the model, and runs none; with each call from the version of the last.
    static func migrationRehearsal(
        at url: URL, from model: NSManagedObjectModel
    ) throws -> (NSManagedObjectModel) throws -> [String]
}

/// A type of stores that an engine of another module keeps.
package protocol StoreEngineType: AnyObject, Sendable {
    /// The string of the store type, and the schemes of its URLs.
    static var storeType: String { get }
    static var schemes: [String] { get }
    static var engine: any StoreEngine.Type { get }
}

/// The store types whose modules are in the program.
package enum StoreEngines {
    /// The classes by which the modules of the package are found when they are linked; a program need not call anything.
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

    /// Why there are no stores of a server in this program.
    static func unknown(_ what: String) -> NSError {
        CoreDataError.make(
            134000,
            "Cannot open \(what): this program was built without PostgreSQL. Build it with the package trait PostgreSQL "
                + "(swift build --traits PostgreSQL) and the product CoreDataPostgreSQL.")
    }
}
