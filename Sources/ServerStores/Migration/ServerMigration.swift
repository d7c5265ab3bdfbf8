import CoreData
import Foundation

// A lightweight migration in one transaction of the server. A table that keeps its columns is changed in place, with
// everything that an administrator added to it. Any other table is renamed, created again, filled with one statement
// and granted to the same roles, and the old one is dropped. Others see the old store, and wait, until the commit.

/// Migrates the tables of a store to another version of its model, with an inferred mapping.
struct ServerMigration {
    let opening: ServerOpening
    /// The entities of the store in its present version.
    let source: [NSEntityDescription]
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]

    private static let mostAttempts = 5

    /// - Parameter known: the store's contents when it was opened.
    /// - Returns: the contents of the migrated store, even if another program has already done the same migration.
    /// - Throws: 134190 if no mapping can be inferred, 134110 if the rows do not fit, 134100 if another program
    ///   migrated the store to a third version. The store is then unchanged.
    func run(on connection: any ServerConnection, from known: ServerOpening.Contents) throws -> ServerOpening.Contents {
        try ServerOpening.check(entities)
        var attempt = 1
        while true {
            do { return try migrate(connection, known) } catch {
                if connection.isInTransaction { _ = try? connection.run([ServerStatement("ROLLBACK")]) }
                guard let failure = error as? ServerError else { throw error }
                // Another transaction, which reads the tables, interfered. Only then is the migration tried again.
                guard failure.kind == .retry, attempt < Self.mostAttempts else { throw refusal(failure) }
                attempt += 1
                Thread.sleep(forTimeInterval: Double.random(in: 0.01...0.05) * Double(attempt))
            }
        }
    }

    private func migrate(
        _ connection: any ServerConnection, _ known: ServerOpening.Contents
    ) throws -> ServerOpening.Contents {
        let store = opening.storeText
        _ = try connection.run(
            ServerTransactionStart.statements(opening.place, store: opening.storeText, isAlone: true)
                + [ServerStatement("LOCK TABLE \(store) IN ACCESS EXCLUSIVE MODE")])
        // From here on nobody else can change the store.
        guard let found = try opening.contentsIfPresent(connection) else { throw opening.errors.replaced() }
        var migrated = found.metadata
        StoreMetadata.setHashes(of: model, entities: entities, in: &migrated)
        migrated[NSStoreModelVersionIdentifiersKey] = model.versionIdentifiers.map { "\($0.base)" }.sorted()
        guard found.version == known.version else {
            guard Self.haveSameHashes(found.metadata, migrated) else { throw opening.errors.replaced() }
            _ = try connection.run([ServerStatement("ROLLBACK")])
            return found
        }
        let stored = try opening.numbers(on: connection)
        let new = try ServerMigrationWork(from: source, stored, to: entities, opening, connection).run()
        let version = ServerStoreVersion(identifier: known.version.identifier, number: known.version.number + 1)
        _ = try connection.run([
            try opening.writing(migrated),
            ServerStatement(
                "UPDATE \(store) SET model = ?, model_number = ?, changes = changes + 1, removed = changes + 1",
                [.value(.blob(try model.cachedModelData()), .bytes), .value(.integer(version.number), .bigint)]),
            ServerStatement("DELETE FROM \(new.tableText(ServerStoreTables.entities))"),
            opening.listing(new, model),
            // Notifies programs that use the old model, which then find it replaced.
            ServerStatement(
                "SELECT pg_notify(?, '')", [.value(.text(ServerHistory.channel(version.identifier)), .text)]),
            ServerStatement("COMMIT"),
        ])
        return ServerOpening.Contents(metadata: migrated, version: version)
    }

    private static func haveSameHashes(_ one: [String: Any], _ other: [String: Any]) -> Bool {
        guard let one = one[NSStoreModelVersionHashesKey] as? [String: Data],
            let other = other[NSStoreModelVersionHashesKey] as? [String: Data]
        else { return false }
        return one == other
    }

    private func refusal(_ error: ServerError) -> any Error {
        let reason: String
        switch error.state {
        case "23505":
            reason = "several objects have the same values, but the model requires unique values (\(error.message))"
        case "2BP01":
            let words = error.message.split(whereSeparator: \.isNewline).joined(separator: "; ")
            reason =
                "an object made by an administrator depends on a table that the migration replaces. Drop it before the migration and create it "
                + "again afterwards (\(words))"
        default: return error
        }
        return CoreDataError.make(
            134110, "Cannot migrate the store \(opening.place.name): \(reason).",
            underlying: ServerStoreErrors.underlying(error))
    }
}
