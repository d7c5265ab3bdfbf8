import Foundation
import SQLiteAccess

/// Brings an SQLite store from one version of its model to another, in SQL and without loading an object.
///
/// Everything happens in one transaction: the file is the old store or the new one. Tables whose contents stay as they are
/// are not touched; the others are made anew under their new names and filled by one statement each. Keys of rows stay, so
/// that object IDs of a renamed or moved entity lead to the same row. External files stay where they are.
struct LightweightMigration {
    let connection: Connection
    let path: String
    let old: TableLayout
    let new: TableLayout
    let difference: ModelDifference
    /// Model, entities and the model in the form in which the store keeps it.
    let creation: StoreCreation
    /// Whether what can wait is put off.
    var defers = false

    private var deferred: DeferredMigration { DeferredMigration(connection: connection, layout: new) }

    /// The name under which a table of the old version stands while the new ones are filled.
    static func parkedName(of table: String) -> String { "Z_MIGRATING_" + table }

    /// - Parameter metadata: what the store says of itself; comes back with the new version's hashes.
    /// - Throws: 134110 where a row has no value for what is required now, or rows are not unique that must be.
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
            // What an earlier version left would have the names that are needed now.
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

    /// Two processes may find the old version at the same time.
    private func checkThatNobodyWasQuicker(_ metadata: [String: Any]) throws {
        let now = try StoreMetadata.read(from: connection)[NSStoreModelVersionHashesKey] as? [String: Data]
        guard now == metadata[NSStoreModelVersionHashesKey] as? [String: Data] else {
            throw CoreDataError.make(
                134110, "The store \(path) was changed by another process while it was being migrated; open it again.")
        }
    }

    // MARK: Rows

    /// - Parameter waiting: the columns that earlier versions left in their tables.
    /// - Returns: those that are there afterwards.
    private func moveRows(waiting: [DeferredMigration.Column]) throws -> [DeferredMigration.Column] {
        let source = MigrationSource(old: old, new: new, difference: difference)
        let tables = new.tables.map { TableMigration(table: $0, source: source) }
        let joins = new.joinTables.map { JoinMigration(table: $0.table, source: source) }
        let unchanged = tables.filter { defers ? $0.surplusColumns != nil : $0.isUnchanged }
        let stayingTables = Set(unchanged.map { $0.table.name })
        let stayingJoins = Set(joins.filter(\.isUnchanged).map { $0.table.name })
        let staying = stayingTables.union(stayingJoins)
        let objects = try SchemaObjects(connection, old: old, new: new, staying: staying)
        try objects.drop()
        let parked = old.tables.map(\.name) + old.joinTables.map(\.table.name)
        try connection.execute("PRAGMA legacy_alter_table = ON")
        for name in parked where !staying.contains(name) {
            try connection.execute(
                "ALTER TABLE \(SQLName.quoted(name)) RENAME TO \(SQLName.quoted(Self.parkedName(of: name)))")
        }
        let text = SchemaText(layout: new)
        for (name, statement) in text.namedTables() where !staying.contains(name) { try connection.execute(statement) }
        source.staying = staying
        for table in tables {
            for statement in try table.statements() { try connection.execute(statement.sql, statement.arguments) }
            try check(table)
        }
        for join in joins where !join.isUnchanged {
            for statement in join.statements() { try connection.execute(statement) }
        }
        for table in tables {
            for statement in table.statementsForOwners() { try connection.execute(statement) }
        }
        try readFilesOfInlineValues(tables)
        for name in parked where !staying.contains(name) && !defers {
            try connection.execute("DROP TABLE \(SQLName.quoted(Self.parkedName(of: name)))")
        }
        try connection.execute("PRAGMA legacy_alter_table = OFF")
        let surplus = unchanged.flatMap { table in
            (table.surplusColumns ?? []).map { DeferredMigration.Column(table: table.table.name, name: $0) }
        }
        let left = waiting.filter { stayingTables.contains($0.table) } + surplus
        if !defers { for column in left { try deferred.drop(column) } }
        try makeIndexes(objects)
        return defers ? left : []
    }

    /// Every attribute that is required has a value in every row.
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
                    "The store \(path) cannot be migrated: \(missing) objects have no value for "
                        + "\(entity.name ?? "").\(attribute.name), which is required and has no default.",
                    userInfo: [
                        "reason": "Validation error missing attribute values on mandatory destination attribute",
                        "entity": entity.name ?? "", "attribute": attribute.name,
                    ])
            }
        }
    }

    /// Values that stood in files and are kept in their columns from now on.
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
                            "The store \(path) cannot be migrated: a file of \(table.table.name), row \(key), is gone.")
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

    private func makeIndexes(_ objects: SchemaObjects) throws {
        let text = SchemaText(layout: new)
        let later = defers ? Set(text.fetchIndexes().map(\.text)) : []
        for statement in text.indexes() where !objects.stays(statement) && !later.contains(statement) {
            do {
                try connection.execute(statement)
            } catch let error as SQLiteError where [.constraint, .uniqueConstraint].contains(error.kind) {
                throw CoreDataError.make(
                    134110,
                    "The store \(path) cannot be migrated: some objects have the same values where the model says that "
                        + "they are unique (\(error.message)).",
                    underlying: error, userInfo: ["reason": "Uniqueness constraint violation"])
            }
        }
        try fillDerivedColumns()
        for entity in new.entities {
            let spatial = SpatialIndexText(entity: entity, layout: new).triggers()
            guard !spatial.isEmpty else { continue }
            for statement in spatial { try connection.execute(statement) }
            let numbers = new.entityNumbers(of: entity, includingSubentities: true).map(String.init)
            try connection.execute(
                "UPDATE \(SQLName.quoted(new.table(of: entity))) SET Z_ENT = Z_ENT WHERE Z_ENT IN (\(numbers.joined(separator: ", ")))"
            )
        }
        for entity in new.entities {
            for derivation in try Derivation.all(of: entity) {
                for statement in DerivedTriggers(derivation: derivation, layout: new).statements() {
                    try connection.execute(statement)
                }
            }
        }
        objects.restoreForeign()
    }

    /// Works every derived value out anew: what it is derived from may be another thing now.
    private func fillDerivedColumns() throws {
        for entity in new.entities {
            for derivation in try Derivation.all(of: entity) {
                let path = DerivedPath(derivation: derivation, layout: new)
                let last = "t\(derivation.hops.count)"
                let result: String
                switch derivation.source {
                case .now: continue
                case .value(let attribute, let function):
                    result = path.applied(function, to: "\(last).\(path.column(attribute))")
                case .count: result = "COUNT(*)"
                case .sum(let attribute): result = "IFNULL(SUM(\(last).\(path.column(attribute))), 0)"
                }
                let table = SQLName.quoted(new.table(of: entity))
                let column = SQLName.quoted(new.column(of: derivation.attribute, in: entity) ?? "NULL")
                let numbers = new.entityNumbers(of: entity, includingSubentities: true).map(String.init)
                try connection.execute(
                    "UPDATE \(table) SET \(column) = (SELECT \(result) FROM \(path.joined(upTo: derivation.hops.count)) "
                        + "WHERE t0.Z_PK = \(table).Z_PK) WHERE Z_ENT IN (\(numbers.joined(separator: ", ")))")
            }
        }
    }

    // MARK: Bookkeeping

    /// The numbers of the entities and the last keys of their tables.
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

    /// The history stays, by the new numbers. Changes of entities that are gone leave it, and which columns changed, and
    /// what deleted rows left behind, can no longer be told: both go by the places of columns.
    private func adjustHistory() throws {
        guard try connection.hasTable("ACHANGE") else { return }
        let pairs = difference.pairs.compactMap { pair in
            pair.source.map { (old.number(of: $0), new.number(of: pair.destination)) }
        }
        let kept = pairs.map { "\($0.0)" }.joined(separator: ", ")
        try connection.execute("DELETE FROM ACHANGE WHERE ZENTITY NOT IN (\(kept.isEmpty ? "NULL" : kept))")
        guard !pairs.isEmpty else { return }
        let cases = pairs.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ")
        let columns = try connection.rows("SELECT name FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMBSTONE%'")
        let cleared = columns.compactMap { row -> String? in
            guard case .text(let name) = row[0] else { return nil }
            return ", \(SQLName.quoted(name)) = NULL"
        }.joined()
        try connection.execute("UPDATE ACHANGE SET ZENTITY = CASE ZENTITY \(cases) END, ZCOLUMNS = NULL\(cleared)")
    }
}
