import Foundation
import SQLiteAccess

/// Migrates an SQLite store from one version of its model to another in SQL, without loading objects.
///
/// Everything is done in one transaction, so the file is either the old store or the new one. Tables keep their rows if
/// columns are only renamed, added or dropped (see ``TableAlteration``). Other tables are created under their new names
/// and filled by one statement each. Keys of rows do not change, so object IDs of a renamed or moved entity identify
/// the same row. External files are not moved.
struct LightweightMigration {
    let connection: Connection
    let path: String
    let old: TableLayout
    let new: TableLayout
    let difference: ModelDifference
    /// The model, its entities, and the model in the form that is stored.
    let creation: StoreCreation
    /// True if work that can wait is deferred.
    let defers: Bool

    /// - Parameters:
    ///   - metadata: the store's metadata.
    ///   - source: the model with which the store was written.
    ///   - path: the store's path, for messages.
    /// - Throws: 134190 if no mapping can be inferred, 134060 if a part of the old version cannot be read.
    init(
        _ connection: Connection, metadata: [String: Any], from source: NSManagedObjectModel, _ creation: StoreCreation,
        path: String, defers: Bool
    ) throws {
        let schema = try StoredSchema(connection, path: path)
        let kept = metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
        let stored = source.entitiesInLayoutOrder.filter { kept[$0.name ?? ""] != nil }
        let numbering = try EntityNumbering(of: stored, stored: schema.entityNumbers, path: path)
        let fresh = EntityNumbering(freshFor: creation.entities)
        old = try TableLayout(numbering: numbering, file: schema)
        try old.unreadable.refuseLoss("migrate")
        new = try TableLayout(numbering: fresh)
        difference = try ModelDifference(
            from: numbering.entries.map(\.entity), to: fresh.entries.map(\.entity))
        (self.connection, self.path, self.creation, self.defers) = (connection, path, creation, defers)
    }

    private var deferred: DeferredMigration { DeferredMigration(connection: connection, layout: new) }

    /// The name of a table of the old version while the new tables are filled.
    static func parkedName(of table: String) -> String { "Z_MIGRATING_" + table }

    /// Migrates the open store.
    ///
    /// - Parameter metadata: the store's metadata. The result has the new version's hashes.
    /// - Throws: 134110 if a row has no value for a property that is now required, or rows are not unique that must be.
    func run(_ metadata: [String: Any]) throws -> [String: Any] {
        let kept = try creation.keptModel()
        var changed = metadata
        StoreMetadata.setHashes(of: creation.model, entities: creation.entities, in: &changed)
        changed[NSStoreModelVersionIdentifiersKey] = creation.model.versionIdentifiers.map { "\($0.base)" }.sorted()
        let files = MigratedFiles(connection: connection, path: path, difference: difference)
        var left: Set<String> = []
        try connection.transaction(.exclusive) {
            try checkThatNobodyWasQuicker(metadata)
            if files.mayBeLeft { left = try files.names(in: old) }
            // Tables that an earlier migration left may have names that are needed now.
            try DeferredMigration.dropParkedTables(of: connection)
            let waiting = try moveRows(waiting: DeferredMigration.columns(in: metadata))
            if !left.isEmpty { left.subtract(try files.names(in: new)) }
            try number()
            try adjustHistory()
            changed = try deferred.noting(waiting, in: changed)
            try StoreMetadata.write(changed, to: connection)
            try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB)")
            try connection.execute("DELETE FROM Z_MODELCACHE")
            try connection.execute("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(kept)])
        }
        files.remove(left)
        return changed
    }

    /// Refuses a store that another process has migrated in the meantime.
    private func checkThatNobodyWasQuicker(_ metadata: [String: Any]) throws {
        let now = try StoreMetadata.read(from: connection)[NSStoreModelVersionHashesKey] as? [String: Data]
        guard now == metadata[NSStoreModelVersionHashesKey] as? [String: Data] else {
            throw CoreDataError.make(
                134110, "Another process changed the store \(path) during its migration. Open it again.")
        }
    }

    // MARK: Rows

    /// - Parameter waiting: the columns that earlier migrations left in their tables.
    /// - Returns: the columns left after this migration.
    private func moveRows(waiting: [DeferredMigration.Column]) throws -> [DeferredMigration.Column] {
        let movement = try movement()
        let (source, tables, joins) = (movement.source, movement.tables, movement.joins)
        let (alterations, altered) = (movement.alterations, movement.altered)
        var objects = movement.objects
        try objects.drop()
        try connection.execute("PRAGMA legacy_alter_table = ON")
        let parked = try parkTables(source)
        let text = SchemaText(layout: new)
        for (name, statement) in text.namedTables() where !source.stays(name) { try connection.execute(statement) }
        for table in tables {
            for statement in try table.statements() { try connection.execute(statement.sql, statement.arguments) }
            if alterations[table.table.name] == nil { try check(table) }
        }
        for join in joins where !join.isUnchanged {
            for statement in join.statements() { try connection.execute(statement) }
        }
        for table in tables {
            for statement in table.statementsForOwners() { try connection.execute(statement) }
        }
        // From here on no statement reads rows by the old column names.
        for alteration in altered { try alter(alteration, &objects) }
        for table in tables where alterations[table.table.name] != nil { try check(table) }
        try readFilesOfInlineValues(tables)
        if !defers {
            for name in parked { try connection.execute("DROP TABLE \(SQLName.quoted(Self.parkedName(of: name)))") }
        }
        try connection.execute("PRAGMA legacy_alter_table = OFF")
        var left = waiting.compactMap { column in
            source.staying[column.table].map { DeferredMigration.Column(table: $0, name: column.name) }
        }
        if defers {
            left += altered.flatMap { table in
                table.dropped.map { DeferredMigration.Column(table: table.name, name: $0) }
            }
        } else {
            for column in left { try deferred.drop(column) }
        }
        try makeIndexes(objects)
        return defers ? left : []
    }

    /// The plan for the rows of all tables.
    struct Movement {
        let source: MigrationSource
        let tables: [TableMigration]
        let joins: [JoinMigration]
        /// The tables that keep their rows, by new name.
        let alterations: [String: TableAlteration]
        /// The tables with changes other than their entity numbers.
        let altered: [TableAlteration]
        let objects: SchemaObjects
    }

    /// Plans how the rows of all tables migrate. Only reads the file.
    func movement() throws -> Movement {
        let source = MigrationSource(old: old, new: new, difference: difference)
        let tables = new.tables.map { TableMigration(table: $0, source: source) }
        let joins = new.joinTables.map { JoinMigration(table: $0.table, source: source) }
        var objects = try SchemaObjects(connection, old: old, new: new)
        let alterations = try alterations(of: tables, objects)
        let stayingJoins = Set(joins.filter(\.isUnchanged).map { $0.table.name })
        for alteration in alterations.values { source.staying[alteration.oldName] = alteration.name }
        for name in stayingJoins { source.staying[name] = name }
        let altered = tables.compactMap { alterations[$0.table.name] }.filter { !$0.isNothing }
        objects.keep(Set(source.staying.keys).subtracting(altered.map(\.oldName)), altering: altered)
        return Movement(
            source: source, tables: tables, joins: joins, alterations: alterations, altered: altered, objects: objects)
    }

    /// Returns the tables that keep their rows, by new name.
    private func alterations(
        of tables: [TableMigration], _ objects: SchemaObjects
    ) throws -> [String: TableAlteration] {
        var result: [String: TableAlteration] = [:]
        for table in tables {
            guard let alteration = try table.alteration() else { continue }
            let name = alteration.oldName
            guard try alteration.isNothing || alteration.fits(standingTable(name, objects), defers: defers) else {
                continue
            }
            result[alteration.name] = alteration
        }
        return result
    }

    private func standingTable(
        _ name: String, _ objects: SchemaObjects
    ) throws -> TableAlteration.StandingTable {
        let rows = try connection.rows(
            "SELECT c.name, m.sql FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS c "
                + "WHERE m.type = 'table' AND m.name = ? COLLATE NOCASE", [.text(name)])
        var columns: Set<String> = []
        var sql = ""
        for row in rows {
            guard case .text(let column) = row[0], case .text(let text) = row[1] else { continue }
            columns.insert(column.uppercased())
            sql = text
        }
        return TableAlteration.StandingTable(
            columns: columns, sql: sql, indexCount: objects.indexCount(of: name),
            hasForeignIndexes: objects.hasForeignIndexes(name), dropsColumns: Connection.dropsColumns)
    }

    /// Frees the names of the old version: tables that are replaced get parked names, others their new names.
    ///
    /// - Returns: the tables that are replaced.
    private func parkTables(_ source: MigrationSource) throws -> [String] {
        func rename(_ from: String, _ to: String) throws {
            try connection.execute("ALTER TABLE \(SQLName.quoted(from)) RENAME TO \(SQLName.quoted(to))")
        }
        let names = old.tables.map(\.name) + old.joinTables.map(\.table.name)
        let moving = names.filter { source.staying[$0] != $0 }
        for name in moving { try rename(name, Self.parkedName(of: name)) }
        for name in moving {
            if let now = source.staying[name] { try rename(Self.parkedName(of: name), now) }
        }
        return moving.filter { source.staying[$0] == nil }
    }

    private func alter(_ alteration: TableAlteration, _ objects: inout SchemaObjects) throws {
        for statement in alteration.renamings() { try connection.execute(statement) }
        try objects.dropIndexes(ofAltered: alteration.name)
        if !defers { for statement in alteration.droppings() { try connection.execute(statement) } }
        for statement in alteration.additions() { try connection.execute(statement) }
        for statement in alteration.fillingStatements() {
            try refusingDuplicates { try connection.execute(statement) }
        }
    }

    /// Checks that every required attribute has a value in every row.
    private func check(_ table: TableMigration) throws {
        for entity in table.table.entities where !entity.isAbstract && difference.source(of: entity) != nil {
            for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name })
            where !attribute.isOptional && !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
                guard let column = new.column(of: attribute, in: entity), table.mayLack(attribute, in: entity) else {
                    continue
                }
                let missing = try connection.integer(
                    "SELECT COUNT(*) FROM \(SQLName.quoted(table.table.name)) WHERE Z_ENT = ? "
                        + "AND \(SQLName.quoted(column)) IS NULL", [.integer(new.number(of: entity))])
                guard let missing, missing > 0 else { continue }
                throw CoreDataError.make(
                    134110,
                    "Cannot migrate the store \(path): \(missing) objects have no value for "
                        + "\(entity.name ?? "").\(attribute.name), which is required and has no default.",
                    userInfo: [
                        "reason": "Validation error missing attribute values on mandatory destination attribute",
                        "entity": entity.name ?? "", "attribute": attribute.name,
                    ])
            }
        }
    }

    /// Moves values of external files into their columns, if the new version stores them there.
    private func readFilesOfInlineValues(_ tables: [TableMigration]) throws {
        let files = ExternalData(storePath: path)
        for table in tables {
            for column in table.columnsThatLoseFiles {
                let (name, column) = (SQLName.quoted(table.table.name), SQLName.quoted(column))
                let rows = try connection.rows(
                    "SELECT Z_PK, \(column) FROM \(name) WHERE substr(\(column), 1, 1) = x'02'")
                for row in rows {
                    guard case .integer(let key) = row[0], case .blob(let stored) = row[1] else { continue }
                    guard let value = files.value(of: stored) else {
                        throw CoreDataError.make(
                            134110,
                            "Cannot migrate the store \(path): the file of a value of \(table.table.name), row \(key), is missing."
                        )
                    }
                    try connection.execute(
                        "UPDATE \(name) SET \(column) = ? WHERE Z_PK = ?", [.blob(value), .integer(key)])
                }
                try connection.execute(
                    "UPDATE \(name) SET \(column) = CAST(substr(\(column), 2) AS BLOB) WHERE substr(\(column), 1, 1) = x'01'"
                )
            }
        }
    }

    // MARK: Bookkeeping

    /// Writes the numbers of the entities and the last keys of their tables.
    private func number() throws {
        var last: [Int64: Int64] = [:]
        for row in try connection.rows("SELECT Z_ENT, IFNULL(Z_MAX, 0) FROM Z_PRIMARYKEY") {
            if case .integer(let number) = row[0], case .integer(let key) = row[1] { last[number] = key }
        }
        let own = old.entities.map { "\(old.number(of: $0))" } + new.entities.map { "\(new.number(of: $0))" }
        try connection.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT IN (\(own.joined(separator: ", ")))")
        for entity in new.entities {
            let source = difference.source(of: entity)
            var key = source.map { max(last[old.number(of: $0)] ?? 0, 0) } ?? 0
            if entity.superentity == nil {
                let root = entity.family.compactMap { difference.source(of: $0)?.root }.first
                key = max(key, root.map { last[old.number(of: $0)] ?? 0 } ?? 0)
                let used = try connection.integer("SELECT MAX(Z_PK) FROM \(SQLName.quoted(new.table(of: entity)))")
                key = max(key, used ?? 0)
            }
            try connection.execute(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)",
                [
                    .integer(new.number(of: entity)), .text(entity.name ?? ""),
                    .integer(entity.superentity.map { new.number(of: $0) } ?? 0), .integer(key),
                ])
        }
    }

    /// Keeps the history with the new entity numbers. Changes of removed entities are deleted. Changed columns and the
    /// values of deleted rows are cleared, because both are stored by column position.
    private func adjustHistory() throws {
        guard try connection.hasTable("ACHANGE") else { return }
        let pairs = difference.pairs.compactMap { pair in
            pair.source.map { (old.number(of: $0), new.number(of: pair.destination)) }
        }
        let kept = pairs.map { "\($0.0)" }.joined(separator: ", ")
        try connection.execute("DELETE FROM ACHANGE WHERE ZENTITY NOT IN (\(kept.isEmpty ? "NULL" : kept))")
        guard !pairs.isEmpty else { return }
        let columns = try connection.rows("SELECT name FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMBSTONE%'")
        let tombstones = columns.compactMap { if case .text(let name) = $0[0] { SQLName.quoted(name) } else { nil } }
        let cleared = ["ZCOLUMNS"] + tombstones
        // Only rows that change are written.
        let conditions = cleared.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
        try connection.execute(
            "UPDATE ACHANGE SET \(cleared.map { "\($0) = NULL" }.joined(separator: ", ")) WHERE \(conditions)")
        let renumbered = pairs.filter { $0.0 != $0.1 }
        guard !renumbered.isEmpty else { return }
        let cases = renumbered.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ")
        let numbers = renumbered.map { "\($0.0)" }.joined(separator: ", ")
        try connection.execute(
            "UPDATE ACHANGE SET ZENTITY = CASE ZENTITY \(cases) END WHERE ZENTITY IN (\(numbers))")
    }
}
