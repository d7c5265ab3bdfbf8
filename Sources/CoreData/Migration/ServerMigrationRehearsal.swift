import Foundation

/// Returns the statements of lightweight migrations of a store on a server. An addition to Apple's API.
///
/// Changes and locks nothing, and reads no rows, so missing required values are not found. Use it on one thread at a
/// time.
public final class ServerMigrationRehearsal {
    private let statements: (NSManagedObjectModel) throws -> [String]

    /// Creates a rehearsal for the store at `url` and reads the store's entities.
    ///
    /// - Parameters:
    ///   - url: the URL of the store.
    ///   - model: the version of the model with which the store was written.
    /// - Throws: 260 if there is no store, 134080 if the server does not answer.
    public init(storeAt url: URL, model: NSManagedObjectModel) throws {
        statements = try StoreEngines.engine(for: url).migrationRehearsal(at: url, from: model)
    }

    /// Returns the statements of the transaction that migrates to another version. The next call continues from that
    /// version.
    ///
    /// - Throws: 134190 if the mapping to the version cannot be inferred.
    public func migrate(to model: NSManagedObjectModel) throws -> LightweightMigrationPlan {
        LightweightMigrationPlan(tables: [], statements: try statements(model))
    }
}
