import Foundation
import SQLiteAccess

/// Creates the tables of a new store, finds those of an existing one, and applies the options to it.
struct StoreCreation {
    let file: StoreFile
    let model: NSManagedObjectModel
    /// The entities of the store's configuration.
    let entities: [NSEntityDescription]

    /// - Throws: 134080 for a configuration that the model does not have, 134060 for a model that cannot be stored.
    init(file: StoreFile, model: NSManagedObjectModel, configuration: String) throws {
        self.file = file
        self.model = model
        guard let entities = model.entities(forConfigurationName: configuration) else {
            throw CoreDataError.make(
                134080, "Cannot open \(file.path): the model has no configuration named \(configuration).")
        }
        self.entities = entities
    }

    /// Refuses to write with an inferred model.
    func checkThatModelMayWrite() throws {
        if !file.isReadOnly { try model.checkThatItMayWrite(file.path) }
    }

    // MARK: A new store

    /// Creates everything in one transaction. Does nothing if another process was first.
    ///
    /// - Parameter model: the result of ``keptModel()``.
    func create(on connection: Connection, keeping model: @autoclosure () throws -> Data) throws {
        guard !file.isReadOnly || file.isInMemory else {
            throw CoreDataError.make(
                259, "Cannot open the store \(file.path): the file is empty.", userInfo: [NSFilePathErrorKey: file.path]
            )
        }
        let kept = try model()
        try file.setJournalMode(of: connection)
        try connection.transaction(.exclusive) {
            guard try connection.integer("SELECT COUNT(*) FROM sqlite_master") == 0 else { return }
            let numbering = EntityNumbering(freshFor: entities)
            let layout = try TableLayout(numbering: numbering)
            for statement in try SchemaText(layout: layout).statements() { try connection.execute(statement) }
            for (entity, number) in numbering.entries {
                let parent = entity.superentity.map { layout.number(of: $0) } ?? 0
                try connection.execute(
                    "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
                    [.integer(number), .text(entity.name ?? ""), .integer(parent)])
            }
            try StoreMetadata.write(StoreMetadata.fresh(model: self.model, entities: entities), to: connection)
            try connection.execute("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(kept)])
            if file.options.tracksHistory == true {
                try HistoryTables.create(on: connection, tombstones: tombstoneCount)
            }
        }
    }

    /// Returns the model in the form that a new store contains. Refuses derived attributes with expressions that
    /// triggers cannot update, and conditions in code.
    func keptModel() throws -> Data {
        for entity in entities { _ = try Derivation.all(of: entity) }
        return try model.cachedModelData()
    }

    /// The maximum number of values that a deleted row of any entity preserves.
    private var tombstoneCount: Int { entities.map(HistoryColumns.preservedCount).max() ?? 0 }

    // MARK: An existing store

    /// Returns the layout of the file. A missing column makes its property unreadable.
    ///
    /// - Throws: 134020 if an entity or its table is missing, or if anything is missing and nothing shows that the
    ///   store was written with this model.
    func layout(in schema: StoredSchema, metadata: [String: Any]) throws -> TableLayout {
        let numbering = try EntityNumbering(of: entities, stored: schema.entityNumbers, path: file.path)
        let layout = try TableLayout(numbering: numbering, file: schema)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
        if hashes.isEmpty || file.options.ignoresVersioning { try layout.unreadable.refuseStore() }
        return layout
    }

    /// Applies the options to a store that matches the model.
    func adjust(_ connection: Connection, metadata: inout [String: Any]) throws {
        try file.setJournalMode(of: connection)
        let schema = try StoredSchema(connection, path: file.path)
        _ = try layout(in: schema, metadata: metadata)
        try adjustHistory(connection, schema)
        if file.options.ignoresVersioning { try adoptHashes(connection, &metadata) }
        if file.options.runsVacuum { try connection.execute("VACUUM") }
        if file.options.runsAnalyze { try connection.execute("ANALYZE") }
    }

    /// Keeps an existing history whatever the options say, because other programs may follow it.
    private func adjustHistory(_ connection: Connection, _ schema: StoredSchema) throws {
        if ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].allSatisfy(schema.hasTable),
            try HistoryTables.lackCounters(connection)
        {
            try connection.transaction { try HistoryTables.addCounters(on: connection) }
        }
        let wanted = tombstoneCount
        let hasHistory = schema.hasTable("ACHANGE")
        if !hasHistory, file.options.tracksHistory == true {
            try connection.transaction {
                guard try !connection.hasTable("ACHANGE") else { return }
                try HistoryTables.create(on: connection, tombstones: wanted)
            }
        } else if hasHistory, schema.columns(of: "ACHANGE").count(where: { $0.hasPrefix("ZTOMBSTONE") }) < wanted {
            try connection.transaction {
                try HistoryTables.addTombstoneColumns(upTo: wanted, in: schema, on: connection)
            }
        }
    }

    private func adoptHashes(_ connection: Connection, _ metadata: inout [String: Any]) throws {
        let before = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        StoreMetadata.setHashes(of: model, entities: entities, in: &metadata)
        guard metadata[NSStoreModelVersionHashesKey] as? [String: Data] != before else { return }
        let changed = metadata
        try connection.transaction { try StoreMetadata.write(changed, to: connection) }
    }
}
