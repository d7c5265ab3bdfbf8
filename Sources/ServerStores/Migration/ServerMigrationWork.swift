import CoreData
import Foundation

/// The statements of a migration. Run in its transaction.
final class ServerMigrationWork {
    let old: ServerLayout
    let new: ServerLayout
    let difference: ModelDifference
    private let connection: any ServerConnection
    private let oldText: ServerSchemaText
    private let newText: ServerSchemaText
    private let tables: [ServerTableMigration]
    /// The tables and join tables that are changed in place.
    private var staying: Set<String> = []
    /// The temporary names of the other old tables and sequences.
    private var parked: [String: String] = [:]

    /// - Parameter numbers: the numbers of the store's entities.
    /// - Throws: 134190 if no mapping can be inferred.
    convenience init(
        from source: [NSEntityDescription], _ numbers: [String: Int64], to entities: [NSEntityDescription],
        _ opening: ServerOpening, _ connection: any ServerConnection
    ) throws {
        let difference = try ModelDifference(from: source, to: entities)
        try self.init(
            old: opening.layout(of: source, stored: numbers),
            new: opening.layout(
                of: entities, stored: EntityOrder.numbers(of: entities, stored: numbers, difference)),
            difference: difference, connection: connection)
    }

    init(old: ServerLayout, new: ServerLayout, difference: ModelDifference, connection: any ServerConnection) throws {
        self.old = old
        self.new = new
        self.difference = difference
        self.connection = connection
        oldText = ServerSchemaText(layout: old)
        newText = ServerSchemaText(layout: new)
        tables = new.tables.map { ServerTableMigration($0, old: old, new: new, difference: difference) }
        for table in tables where try table.canStay(oldText, newText) { staying.insert(table.table.name) }
        for table in new.joinTables where canStay(table) { staying.insert(table.name) }
        var taken = Set(
            [old, new].flatMap { layout in
                layout.tables.flatMap { [$0.name, $0.sequence] } + layout.joinTables.map(\.name)
                    + layout.constraints.keys
            })
        let places = old.tables.flatMap { [$0.name, $0.sequence] } + old.joinTables.map(\.name)
        let kept = staying.union(old.tables.filter { staying.contains($0.name) }.map(\.sequence))
        for name in places where !kept.contains(name) { parked[name] = ServerNames.claim("_old_\(name)", &taken) }
    }

    func quoted(_ name: String) -> String { new.dialect.quoted(name) }
    var key: String { quoted(ServerStoreTables.key) }
    private var entity: String { quoted(ServerStoreTables.entity) }
    private var version: String { quoted(ServerStoreTables.version) }

    func run(_ texts: [String]) throws {
        _ = try connection.run(texts.map { ServerStatement($0) })
    }

    /// Returns the present name of an old table while rows are moved.
    func place(_ name: String) -> String { old.tableText(parked[name] ?? name) }

    /// - Returns: the layout of the new version.
    @discardableResult
    func run() throws -> ServerLayout {
        try run(ServerViews(layout: old).removals())
        try removeRules()
        try run(ServerDerivedText(layout: old).removals())
        try run(
            parked.sorted { $0.key < $1.key }.map { name, other in
                let isSequence = old.tables.contains { $0.sequence == name }
                return "ALTER \(isSequence ? "SEQUENCE" : "TABLE") \(old.tableText(name)) RENAME TO \(quoted(other))"
            })
        for table in tables { try staying.contains(table.table.name) ? extend(table) : make(table) }
        for table in new.joinTables where !staying.contains(table.name) {
            try run(newText.statements(table))
            try fill(table)
        }
        for table in tables where staying.contains(table.table.name) { try shrink(table) }
        for table in new.tables { try mend(table) }
        for table in new.joinTables where staying.contains(table.name) { try mend(table) }
        for table in tables { try check(table) }
        try addIndexes()
        try ServerDerivedFilling(layout: new, connection: connection).fill()
        try addRules()
        try run(
            newText.signing() + newText.storeComments() + ServerDerivedText(layout: new).statements()
                + ServerViews(layout: new).statements())
        try ServerMigrationRights(layout: new, connection: connection).passOn(replaced())
        try run(
            old.joinTables.map(\.name).filter { parked[$0] != nil }.map { "DROP TABLE \(place($0))" }
                + old.tables.map(\.name).filter { parked[$0] != nil }.map { "DROP TABLE \(place($0))" })
        // The history is deleted, because it contains property names of the old version.
        try run([
            "DELETE FROM \(new.tableText(ServerStoreTables.changes))",
            "DELETE FROM \(new.tableText(ServerStoreTables.transactions))",
        ])
        return new
    }

    // MARK: Constraints, indexes, references

    /// Drops the references among the store's tables while rows are moved, and the constraints that the new version
    /// does not have.
    private func removeRules() throws {
        let names = ServerArgument.list((old.tables.map(\.name) + old.joinTables.map(\.name)).map { .text($0) }, .text)
        let found = try connection.run([
            ServerStatement(
                "SELECT format('ALTER TABLE %I.%I DROP CONSTRAINT %I', n.nspname, c.relname, k.conname) "
                    + "FROM pg_catalog.pg_constraint AS k JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid "
                    + "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
                    + "JOIN pg_catalog.pg_class AS f ON f.oid = k.confrelid AND f.relnamespace = n.oid "
                    + "WHERE k.contype = 'f' AND n.nspname = ? AND c.relname = ANY(?) AND f.relname = ANY(?)",
                [.value(.text(old.schemaName), .text), names, names])
        ])[0]
        let kept = keptConstraints
        try run(
            found.texts
                + oldText.uniqueConstraints().filter { !kept.contains($0.text) }.map {
                    "ALTER TABLE \(old.tableText($0.table)) DROP CONSTRAINT \(quoted($0.name))"
                })
    }

    private var keptConstraints: Set<String> {
        Set(oldText.uniqueConstraints().filter { staying.contains($0.table) }.map(\.text))
            .intersection(newText.uniqueConstraints().map(\.text))
    }

    /// Creates new indexes. Derived values need those of references to find the rows of owners.
    private func addIndexes() throws {
        let known = Set(old.tables.filter { staying.contains($0.name) }.flatMap(oldText.indexes))
        try run(new.tables.flatMap(newText.indexes).filter { !known.contains($0) })
    }

    private func addRules() throws {
        let kept = keptConstraints
        try run(
            newText.uniqueConstraints().map(\.text).filter { !kept.contains($0) } + newText.references()
                + new.tables.filter { staying.contains($0.name) }.flatMap(newText.comments)
                + new.joinTables.filter { staying.contains($0.name) }.flatMap(newText.comments))
    }

    /// The replaced tables and sequences, with the names of their replacements.
    private func replaced() -> [(old: String, new: String)] {
        var places = tables.flatMap { table -> [(old: String, new: String)] in
            guard let from = table.from else { return [] }
            return [(from.name, table.table.name), (from.sequence, table.table.sequence)]
        }
        for table in new.joinTables {
            guard let name = oldName(of: table) else { continue }
            places.append((name, table.name))
        }
        return places.compactMap { place in parked[place.old].map { ($0, place.new) } }
    }

    // MARK: Rows

    private func make(_ table: ServerTableMigration) throws {
        try run(newText.statements(table.table))
        guard let from = table.from else { return }
        var arguments: [ServerArgument] = []
        var columns = [key, version, entity]
        let cases = table.kept.map { "WHEN \(old.number(of: $0.old)) THEN \(new.number(of: $0.new))" }
        var values = ["o.\(key)", "o.\(version)", "CASE o.\(entity) \(cases.joined(separator: " ")) END"]
        for column in table.table.columns {
            let value = try table.expression(for: column)
            columns.append(quoted(column.name))
            values.append(value.text)
            arguments += value.arguments
        }
        let numbers = table.kept.map { "\(old.number(of: $0.old))" }.joined(separator: ", ")
        _ = try connection.run([
            ServerStatement(
                "INSERT INTO \(new.tableText(table.table.name)) (\(columns.joined(separator: ", "))) SELECT "
                    + values.joined(separator: ", ")
                    + " FROM \(place(from.name)) AS o WHERE o.\(entity) IN (\(numbers))", arguments),
            ServerStatement(
                "SELECT setval(?::regclass, (SELECT last_value + \(ServerStoreTables.keysAtOnce) FROM "
                    + "\(place(from.sequence))))", [.value(.text(new.tableText(table.table.sequence)), .text)]),
        ])
    }

    /// Adds the new columns of a kept table, with their values.
    private func extend(_ table: ServerTableMigration) throws {
        let text = new.tableText(table.table.name)
        let coming = table.comingColumns
        guard !coming.isEmpty else { return }
        try run(["ALTER TABLE \(text) " + coming.map { "ADD \(newText.definition($0))" }.joined(separator: ", ")])
        var sets: [String] = []
        var values: [String] = []
        var arguments: [ServerArgument] = []
        for (index, column) in coming.enumerated() {
            let value = try table.expression(for: column)
            guard !value.text.hasPrefix("NULL::") else { continue }
            sets.append("\(quoted(column.name)) = v.c\(index)")
            values.append("\(value.text) AS c\(index)")
            arguments += value.arguments
        }
        guard !sets.isEmpty else { return }
        _ = try connection.run([
            ServerStatement(
                "UPDATE \(text) AS t SET \(sets.joined(separator: ", ")) FROM (SELECT o.\(key) AS id, "
                    + values.joined(separator: ", ") + " FROM \(text) AS o) AS v WHERE t.\(key) = v.id", arguments)
        ])
    }

    private func shrink(_ table: ServerTableMigration) throws {
        let text = new.tableText(table.table.name)
        var statements: [String] = []
        let gone = table.goneEntities.map { "\($0)" }
        if !gone.isEmpty {
            statements.append("DELETE FROM \(text) WHERE \(entity) IN (\(gone.joined(separator: ", ")))")
        }
        let columns = table.goneColumns.map { "DROP \(quoted($0))" }
        if !columns.isEmpty { statements.append("ALTER TABLE \(text) \(columns.joined(separator: ", "))") }
        try run(statements)
    }

    /// Clears references to rows that do not exist, and sets the entity columns of the others.
    private func mend(_ table: ServerTable) throws {
        let text = new.tableText(table.name)
        var statements: [String] = []
        for column in table.columns {
            guard case .toOne(let toOne) = column.content, let destination = toOne.destinationEntity else { continue }
            let (name, far) = (quoted(column.name), new.tableText(of: destination))
            let companions = [new.entityColumn(of: toOne, in: column.entity), new.positionColumn(of: toOne)]
            let sets = ([name] + companions.compactMap(\.self).map(quoted)).map { "\($0) = NULL" }
            statements.append(
                "UPDATE \(text) AS t SET \(sets.joined(separator: ", ")) WHERE \(name) IS NOT NULL AND NOT EXISTS "
                    + "(SELECT 1 FROM \(far) AS d WHERE d.\(key) = t.\(name))")
            if let companion = companions[0] {
                statements.append(
                    "UPDATE \(text) AS t SET \(quoted(companion)) = d.\(entity) FROM \(far) AS d "
                        + "WHERE d.\(key) = t.\(name) AND t.\(quoted(companion)) IS DISTINCT FROM d.\(entity)")
            }
        }
        try run(statements)
    }

    // MARK: Checks

    /// Checks that every required attribute has a value in every row.
    private func check(_ table: ServerTableMigration) throws {
        for (entity, _) in table.kept where !entity.isAbstract {
            for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name })
            where !attribute.isOptional && !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
                guard let column = new.column(of: attribute, in: entity) else { continue }
                let result = try connection.run([
                    ServerStatement(
                        "SELECT count(*) FROM \(new.tableText(table.table.name)) WHERE \(self.entity) = ? AND "
                            + "\(quoted(column)) IS NULL", [.value(.integer(new.number(of: entity)), .integer)])
                ])[0]
                guard case .integer(let missing) = result.value(0, 0), missing > 0 else { continue }
                throw CoreDataError.make(
                    134110,
                    "Cannot migrate the store: \(missing) objects have no value for "
                        + "\(entity.name ?? "").\(attribute.name), which is required and has no default.",
                    userInfo: ["entity": entity.name ?? "", "attribute": attribute.name])
            }
        }
    }
}
