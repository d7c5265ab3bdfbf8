import CoreData
import Foundation

// A lightweight migration in one transaction of the server. A table whose columns stay under their names is changed in place,
// with all that an administrator has given it; another gets another name meanwhile, is made anew, filled with one statement
// and granted to the same roles, and the old one goes. Until the commit others see the old store, and wait.

/// Brings the tables of a store to another version of its model, by what the names in both say.
struct ServerMigration {
    let opening: ServerOpening
    /// The entities that the store has, in the version that it was written with.
    let source: [NSEntityDescription]
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]

    private static let mostAttempts = 5

    /// - Parameter known: what the store said of itself when it was opened.
    /// - Returns: what the migrated store says of itself, also where another program has migrated it meanwhile.
    /// - Throws: 134190 where it cannot be inferred, 134110 where the rows do not fit, 134100 where another program has
    ///   brought it to a third version. Then nothing has changed.
    func run(on connection: any ServerConnection, from known: ServerOpening.Contents) throws -> ServerOpening.Contents {
        try ServerOpening.check(entities)
        var attempt = 1
        while true {
            do { return try migrate(connection, known) } catch {
                if connection.isInTransaction { _ = try? connection.run([ServerStatement("ROLLBACK")]) }
                guard let failure = error as? ServerError else { throw error }
                // A reader of the tables was in the way.
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
        // Only now is it known that the store stays as it is.
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
            // Who has the old model open learns that it is of no more use.
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
            reason = "some objects have the same values where the model says that they are unique (\(error.message))"
        case "2BP01":
            let words = error.message.split(whereSeparator: \.isNewline).joined(separator: "; ")
            reason =
                "something that an administrator made depends on what the migration replaces; remove it first and make it "
                + "again afterwards (\(words))"
        default: return error
        }
        return CoreDataError.make(
            134110, "The store \(opening.place.name) cannot be migrated: \(reason).",
            underlying: ServerStoreErrors.underlying(error))
    }
}
