import CoreData
import Foundation

/// Opens the tables of a store, or creates them if there are none.
struct ServerOpening {
    let place: ServerPlace
    let database: any ServerDatabase

    init(_ url: URL, options: [AnyHashable: Any]?) throws {
        guard let type = StoreEngines.type(for: url) as? any ServerDatabase.Type else {
            throw StoreEngines.unknown(url)
        }
        let database = type.init()
        let options = StoreOptions(options)
        self.database = database
        place = try ServerPlace(url, options: options)
        replica = try place.replicaURL.map { Replica(place: try ServerPlace($0, options: options), database: database) }
    }

    /// The location of a replica of the store.
    struct Replica {
        let place: ServerPlace
        let database: any ServerDatabase
    }

    let replica: Replica?

    var errors: ServerStoreErrors { ServerStoreErrors(place: place) }

    func connect(_ activity: ServerStoreErrors.Activity = .opening) throws -> any ServerConnection {
        if let spare = ServerSpares.take(for: place) { return spare }
        return try errors.translating(activity) { try database.opened(at: place) }
    }

    private var dialect: SQLDialect { database.dialect }
    private var schemaText: String { dialect.quoted(place.schema) }
    private func table(_ name: String) -> String { schemaText + "." + dialect.quoted(name) }

    /// The table of the store's metadata.
    var storeText: String { table(ServerStoreTables.store) }

    // MARK: The store's contents

    func metadata(_ connection: any ServerConnection) throws -> [String: Any] { try contents(connection).metadata }

    /// - Throws: 260 if there is no store, 259 if it has a later version.
    func contents(_ connection: any ServerConnection, withModel: Bool = false) throws -> Contents {
        if let found = try contentsIfPresent(connection, withModel: withModel) { return found }
        throw CoreDataError.make(
            260, "No store exists at \(place.name): the schema \(place.schema) does not have its tables.")
    }

    /// The store's metadata and the version of its tables.
    struct Contents {
        var metadata: [String: Any]
        var version: ServerStoreVersion
        /// The compiled model, if requested.
        var model: Data?
    }

    /// Returns the contents. One round trip, if there is a store or no table of that name.
    func contentsIfPresent(_ connection: any ServerConnection, withModel: Bool = false) throws -> Contents? {
        let store = table(ServerStoreTables.store)
        let result: any ServerResult
        do {
            result = try connection.run([
                ServerStatement(
                    "SELECT format, uuid, metadata, model_number\(withModel ? ", model" : "") FROM \(store)")
            ])[0]
        } catch let error as ServerError where error.isOfMissingTable {
            return nil
        } catch let error as ServerError where error.state == "42703" {
            let text = "SELECT pg_catalog.to_jsonb(s) ->> 'format' FROM \(store) AS s"
            let formats = try connection.run([ServerStatement(text)])[0]
            if formats.rowCount == 1, formats.value(0, 0) != .null { try checkFormat(of: formats) }
            throw CoreDataError.make(
                259,
                "The schema \(place.schema) at \(place.name) is not a store: its table \(store) is of another program.")
        }
        try checkFormat(of: result)
        guard case .text(let uuid) = result.value(0, 1),
            case .text(let text) = result.value(0, 2), case .integer(let number) = result.value(0, 3)
        else { throw CoreDataError.make(259, "The schema \(place.schema) at \(place.name) contains no store.") }
        guard
            var metadata = try? PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
                as? [String: Any]
        else { throw CoreDataError.make(259, "The metadata of the store \(place.name) cannot be read.") }
        metadata[NSStoreUUIDKey] = uuid
        var contents = Contents(metadata: metadata, version: ServerStoreVersion(identifier: uuid, number: number))
        if withModel, case .blob(let data) = result.value(0, 4) { contents.model = data }
        return contents
    }

    /// - Parameter result: one row with the format in the first column.
    private func checkFormat(of result: any ServerResult) throws {
        let format: Int64? =
            switch result.rowCount == 1 ? result.value(0, 0) : .null {
            case .integer(let number): number
            case .text(let text): Int64(text)
            default: nil
            }
        guard let format else {
            throw CoreDataError.make(259, "The schema \(place.schema) at \(place.name) contains no store.")
        }
        guard format == Self.format else {
            throw CoreDataError.make(
                259, "The store \(place.name) has format \(format), but this version reads format \(Self.format).")
        }
    }

    /// The version of the store's own tables.
    static let format: Int64 = 2

    private func isPresent(_ connection: any ServerConnection) throws -> Bool {
        let found = try connection.run([
            ServerStatement(
                "SELECT count(*) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n "
                    + "ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relname = ?",
                [.value(.text(place.schema), .text), .value(.text(ServerStoreTables.store), .text)])
        ])[0]
        return found.value(0, 0) != .integer(0)
    }

    static func text(of metadata: [String: Any], _ place: ServerPlace) throws -> String {
        var list = metadata
        list.removeValue(forKey: NSStoreUUIDKey)
        guard let data = try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0) else {
            throw CoreDataError.make(
                134030, "Cannot save the metadata of \(place.name): a value cannot be in a property list.")
        }
        return String(decoding: data, as: UTF8.self)
    }

    func writing(_ metadata: [String: Any]) throws -> ServerStatement {
        ServerStatement(
            "UPDATE \(table(ServerStoreTables.store)) SET metadata = ?",
            [.value(.text(try Self.text(of: metadata, place)), .text)])
    }

    func model(_ connection: any ServerConnection) throws -> Data? {
        let result: any ServerResult
        do {
            result = try connection.run([ServerStatement("SELECT model FROM \(table(ServerStoreTables.store))")])[0]
        } catch let error as ServerError where error.isOfMissingTable { return nil }
        guard result.rowCount == 1, case .blob(let data) = result.value(0, 0) else { return nil }
        return data
    }

    // MARK: A new store

    /// Creates everything in one transaction, unless another process has already done so.
    ///
    /// - Returns: true if it was created here.
    func create(
        on connection: any ServerConnection, model: NSManagedObjectModel, entities: [NSEntityDescription]
    ) throws -> Bool {
        try Self.check(entities)
        let layout = try layout(of: entities, stored: nil)
        var metadata = StoreMetadata.fresh(model: model, entities: entities)
        metadata[NSStoreTypeKey] = type(of: database).storeType
        metadata["_NSAutoVacuumLevel"] = nil
        let kept = try model.cachedModelData()
        do {
            _ = try connection.run([
                ServerStatement("BEGIN"),
                ServerStatement(
                    "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
                    [.value(.text("coredata " + place.schema), .text)]),
            ])
            if try !hasSchema(connection) {
                _ = try connection.run([ServerStatement("CREATE SCHEMA \(schemaText)")])
            }
            let isNew = try !isPresent(connection)
            if isNew {
                var statements = ServerSchemaText(layout: layout, partitions: place.partitions).statements().map {
                    ServerStatement($0)
                }
                statements += try content(metadata, kept, layout, model)
                _ = try connection.run(statements)
            }
            _ = try connection.run([ServerStatement("COMMIT")])
            return isNew
        } catch {
            if connection.isInTransaction { _ = try? connection.run([ServerStatement("ROLLBACK")]) }
            throw error
        }
    }

    private func hasSchema(_ connection: any ServerConnection) throws -> Bool {
        let found = try connection.run([
            ServerStatement(
                "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = ?", [.value(.text(place.schema), .text)])
        ])[0]
        return found.value(0, 0) != .integer(0)
    }

    private func content(
        _ metadata: [String: Any], _ kept: Data, _ layout: ServerLayout, _ model: NSManagedObjectModel
    ) throws -> [ServerStatement] {
        let uuid = metadata[NSStoreUUIDKey] as? String ?? UUID().uuidString
        return [
            ServerStatement(
                "INSERT INTO \(table(ServerStoreTables.store)) (format, uuid, metadata, model) VALUES (?, ?, ?, ?)",
                [
                    .value(.integer(Self.format), .integer), .value(.text(uuid), .text),
                    .value(.text(try Self.text(of: metadata, place)), .text), .value(.blob(kept), .bytes),
                ]), listing(layout, model),
        ]
    }

    func listing(_ layout: ServerLayout, _ model: NSManagedObjectModel) -> ServerStatement {
        let hashes = model.entityVersionHashesByName
        let entities = layout.entities
        return ServerStatement(
            "INSERT INTO \(table(ServerStoreTables.entities)) (number, name, parent, hash) SELECT * FROM unnest(?, ?, ?, ?)",
            [
                .list(entities.map { .integer(layout.number(of: $0)) }, .integer),
                .list(entities.map { .text($0.name ?? "") }, .text),
                .list(
                    entities.map { entity in entity.superentity.map { .integer(layout.number(of: $0)) } ?? .null },
                    .integer),
                .list(entities.map { entity in hashes[entity.name ?? ""].map { .blob($0) } ?? .null }, .bytes),
            ])
    }

    /// Refuses a model that the tables cannot represent, before they are created.
    static func check(_ entities: [NSEntityDescription]) throws {
        for entity in entities {
            for case let relationship as NSRelationshipDescription in entity.ownProperties
            where !relationship.isTransient && relationship.destinationEntity == nil {
                throw CoreDataError.make(
                    134060, "The relationship \(entity.name ?? "").\(relationship.name) has no destination.")
            }
        }
    }

    // MARK: An existing store

    func layout(of entities: [NSEntityDescription], stored: [String: Int64]?) throws -> ServerLayout {
        try ServerLayout(
            entities: entities, dialect: dialect, schema: place.schema, stored: stored, name: place.name)
    }

    /// - Parameter version: the required version of the tables; `nil` for any.
    func layout(
        of entities: [NSEntityDescription], on connection: any ServerConnection, version: ServerStoreVersion? = nil
    ) throws -> ServerLayout {
        try layout(of: entities, stored: numbers(on: connection, version: version))
    }

    /// Returns the numbers of the store's entities.
    func numbers(
        on connection: any ServerConnection, version: ServerStoreVersion? = nil
    ) throws -> [String: Int64] {
        let result = try connection.run([
            ServerStatement(
                "SELECT e.name, e.number, s.model_number FROM \(table(ServerStoreTables.entities)) AS e, "
                    + "\(table(ServerStoreTables.store)) AS s")
        ])[0]
        var stored: [String: Int64] = [:]
        for row in 0..<result.rowCount {
            if let version, result.value(row, 2) != .integer(version.number) { throw errors.replaced() }
            if case .text(let name) = result.value(row, 0), case .integer(let number) = result.value(row, 1) {
                stored[name] = number
            }
        }
        return stored
    }

    // MARK: The end of a store

    /// Removes the store's tables, and its schema if that is then empty.
    func destroy(_ connection: any ServerConnection) throws {
        guard let found = try contentsIfPresent(connection, withModel: true), let data = found.model else { return }
        let model = try NSManagedObjectModel(cachedModelData: data, store: place.name, metadata: found.metadata)
        let names = Set((found.metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]).keys)
        let layout = try layout(of: model.entities.filter { names.contains($0.name ?? "") }, on: connection)
        let tables =
            layout.joinTables.map(\.name) + layout.tables.map(\.name)
            + [
                ServerStoreTables.changes, ServerStoreTables.transactions, ServerStoreTables.entities,
                ServerStoreTables.store,
            ]
        // All tables are dropped by one statement, so references between them do not prevent it. Other dependent
        // objects do.
        let texts =
            ServerViews(layout: layout).removals() + ["DROP TABLE \(tables.map(table).joined(separator: ", "))"]
            + ServerDerivedText(layout: layout).removals()
            + ["DROP FUNCTION IF EXISTS \(table(ServerSchemaText.signature))()"]
        _ = try connection.run(texts.map { ServerStatement($0) })
        guard place.schema != "public" else { return }
        // Fails if anything else is in the schema.
        _ = try? connection.run([ServerStatement("DROP SCHEMA \(schemaText)")])
    }
}
