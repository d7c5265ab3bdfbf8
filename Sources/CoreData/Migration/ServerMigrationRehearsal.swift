import Foundation

/// Tells by which statements lightweight migrations would change the tables of a store on a server. An addition to Apple's API.
///
/// Nothing is changed or locked, and no row is read: whether all rows have what the new version requires is not found out. Use it
/// on one thread at a time.
public final class ServerMigrationRehearsal {
    private let statements: (NSManagedObjectModel) throws -> [String]

    /// A rehearsal of migrations of the store at `url`, which is asked for its entities at once.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - model: the version of the model that the store was written with.
    /// - Throws: 260 where there is no store, 134080 where the server does not answer.
    public init(storeAt url: URL, model: NSManagedObjectModel) throws {
        statements = try StoreEngines.engine(for: url).migrationRehearsal(at: url, from: model)
    }

    /// The statements of a migration to another version, in its one transaction. The next call continues from that version.
    ///
    /// - Throws: 134190 where the version cannot be inferred.
    public func migrate(to model: NSManagedObjectModel) throws -> LightweightMigrationPlan {
        LightweightMigrationPlan(tables: [], statements: try statements(model))
    }
}
