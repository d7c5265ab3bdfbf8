import Foundation

// A lightweight migration in one transaction of the server: the old tables get other names, the new ones are made and filled
// from them, each with one statement, and the old ones go. Until the commit others see the old store, and wait.

/// Brings the tables of a store to another version of its model, by what the names in both say.
struct ServerMigration {
    let opening: ServerOpening
    /// The entities that the store has, in the version that it was written with.
    let source: [NSEntityDescription]
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]

    /// - Returns: the metadata of the migrated store.
    /// - Throws: 134190 where it cannot be inferred, 134110 where the rows do not fit. Then nothing has changed.
    func run(on connection: any ServerConnection, metadata: [String: Any]) throws -> [String: Any] {
        try ServerOpening.check(entities)
        let work = ServerMigrationWork(
            old: try opening.layout(of: source, on: connection), new: try opening.layout(of: entities, stored: nil),
            difference: try ModelDifference(from: source, to: entities), connection: connection)
        var migrated = metadata
        StoreMetadata.setHashes(of: model, entities: entities, in: &migrated)
        migrated[NSStoreModelVersionIdentifiersKey] = model.versionIdentifiers.map { "\($0.base)" }.sorted()
        do {
            _ = try connection.run([
                ServerStatement("BEGIN"),
                ServerStatement("LOCK TABLE \(work.new.tableText(ServerStoreTables.store)) IN ACCESS EXCLUSIVE MODE"),
            ])
            try work.run()
            _ = try connection.run([
                try opening.writing(migrated),
                ServerStatement(
                    "UPDATE \(work.new.tableText(ServerStoreTables.store)) SET model = ?, changes = changes + 1, "
                        + "removed = changes + 1", [.value(.blob(try model.cachedModelData()), .bytes)]),
                ServerStatement("DELETE FROM \(work.new.tableText(ServerStoreTables.entities))"),
                opening.listing(work.new, model), ServerStatement("COMMIT"),
            ])
        } catch {
            if connection.isInTransaction { _ = try? connection.run([ServerStatement("ROLLBACK")]) }
            guard let error = error as? ServerError, error.kind == .uniqueViolation else { throw error }
            throw CoreDataError.make(
                134110,
                "The store \(opening.place.name) cannot be migrated: some objects have the same values where the model says "
                    + "that they are unique (\(error.message)).", underlying: ServerStoreErrors.underlying(error))
        }
        return migrated
    }
}

/// The statements of a migration.
struct ServerMigrationWork {
    let old: ServerLayout
    let new: ServerLayout
    let difference: ModelDifference
    let connection: any ServerConnection

    private func quoted(_ name: String) -> String { new.dialect.quoted(name) }
    private var key: String { quoted(ServerStoreTables.key) }
    private var entity: String { quoted(ServerStoreTables.entity) }
    private var version: String { quoted(ServerStoreTables.version) }

    /// The name that a table of the old version has meanwhile.
    private func parked(_ name: String) -> String {
        var taken: Set<String> = []
        let places = old.tables.map(\.name) + old.tables.map(\.sequence) + old.joinTables.map(\.name)
        return ServerNames.claim("_old_\(places.firstIndex(of: name) ?? 0)", &taken)
    }

    private func run(_ texts: [String]) throws {
        _ = try connection.run(texts.map { ServerStatement($0) })
    }

    func run() throws {
        try park()
        let text = ServerSchemaText(layout: new)
        try run(text.rowTables())
        for table in new.tables { try fill(table) }
        for table in new.joinTables { try fill(table) }
        for table in new.tables { try mend(table) }
        for table in new.tables { try check(table) }
        try run(text.rules())
        try run(
            old.joinTables.map { "DROP TABLE \(old.tableText(parked($0.name)))" }
                + old.tables.map { "DROP TABLE \(old.tableText(parked($0.name))) CASCADE" })
        try adjustHistory()
    }

    private func park() throws {
        try run(
            old.constraints.map { name, meaning in
                "ALTER TABLE \(old.tableText(of: meaning.entity)) DROP CONSTRAINT \(quoted(name))"
            }
                + old.tables.flatMap { table in
                    [
                        "ALTER TABLE \(old.tableText(table.name)) RENAME TO \(quoted(parked(table.name)))",
                        "ALTER SEQUENCE \(old.tableText(table.sequence)) RENAME TO \(quoted(parked(table.sequence)))",
                    ]
                }
                + old.joinTables.map {
                    "ALTER TABLE \(old.tableText($0.name)) RENAME TO \(quoted(parked($0.name)))"
                })
    }

    // MARK: Rows

    /// The entities of a new table that had rows, with what they were.
    private func kept(_ table: ServerTable) -> [(new: NSEntityDescription, old: NSEntityDescription)] {
        table.entities.compactMap { entity in difference.source(of: entity).map { (entity, $0) } }
    }

    private func fill(_ table: ServerTable) throws {
        let kept = kept(table)
        guard let root = kept.first?.old.root else { return }
        let from = old.serverTable(of: root)
        var arguments: [ServerArgument] = []
        func cases(_ value: (NSEntityDescription, NSEntityDescription) throws -> String) rethrows -> String {
            let parts = try kept.map { "WHEN \(old.number(of: $0.old)) THEN \(try value($0.new, $0.old))" }
            return "CASE o.\(entity) \(parts.joined(separator: " ")) END"
        }
        var columns = [key, version, entity]
        var values = ["o.\(key)", "o.\(version)", cases { new, _ in "\(self.new.number(of: new))" }]
        for column in table.columns {
            columns.append(quoted(column.name))
            let type = column.type.rawValue
            values.append(
                try cases { entity, _ in
                    guard entity.isKindOf(entity: column.entity) else { return "NULL::\(type)" }
                    if let source = source(of: column, in: entity) { return "(o.\(quoted(source)))::\(type)" }
                    guard let value = try startingValue(of: column, in: entity), value != .null else {
                        return "NULL::\(type)"
                    }
                    arguments.append(.value(value, column.type))
                    return "?"
                })
        }
        let numbers = kept.map { "\(old.number(of: $0.old))" }.joined(separator: ", ")
        _ = try connection.run([
            ServerStatement(
                "INSERT INTO \(new.tableText(table.name)) (\(columns.joined(separator: ", "))) SELECT "
                    + values.joined(separator: ", ")
                    + " FROM \(old.tableText(parked(from.name))) AS o WHERE o.\(entity) IN (\(numbers))", arguments),
            ServerStatement(
                "SELECT setval(?::regclass, (SELECT last_value + \(ServerStoreTables.keysAtOnce) FROM "
                    + "\(old.tableText(parked(from.sequence)))))",
                [.value(.text(new.tableText(table.sequence)), .text)]),
        ])
    }

    /// The old column whose values a new one takes over; `nil` where there is none.
    private func source(of column: ServerColumn, in entity: NSEntityDescription) -> String? {
        let property: NSPropertyDescription =
            switch column.content {
            case .attribute(let attribute): attribute
            case .element(let composite, _): composite
            case .toOne(let toOne), .position(let toOne): toOne
            // Worked out anew from the rows that are referred to.
            case .destinationEntity(let toOne): toOne
            }
        let own = entity.propertiesByName[property.name] ?? property
        guard let source = difference.source(of: own, in: entity), let owner = difference.source(of: entity) else {
            return nil
        }
        switch column.content {
        case .attribute: return old.column(of: source, in: owner)
        case .element(_, let leaf):
            return (source as? NSCompositeAttributeDescription).flatMap { old.column(of: $0, at: leaf.path) }
        case .toOne: return old.column(of: source, in: owner)
        case .position: return (source as? NSRelationshipDescription).flatMap { old.positionColumn(of: $0) }
        case .destinationEntity: return nil
        }
    }

    private func startingValue(of column: ServerColumn, in entity: NSEntityDescription) throws -> SQLValue? {
        guard case .attribute(let attribute) = column.content,
            case .attribute(let slot)? = entity.layout.place(of: attribute.name)
        else { return nil }
        return try ServerValueCoding.encoded(entity.layout.traits.startingRow.value(slot), attribute)
    }

    /// References to rows that are gone are taken out, and the entities of the others noted.
    private func mend(_ table: ServerTable) throws {
        let text = new.tableText(table.name)
        var statements: [String] = []
        for column in table.columns {
            guard case .toOne(let toOne) = column.content, let destination = toOne.destinationEntity else { continue }
            let (name, far) = (quoted(column.name), new.tableText(of: destination))
            statements.append(
                "UPDATE \(text) AS t SET \(name) = NULL WHERE \(name) IS NOT NULL AND NOT EXISTS "
                    + "(SELECT 1 FROM \(far) AS d WHERE d.\(key) = t.\(name))")
            if let companion = new.entityColumn(of: toOne, in: column.entity) {
                statements.append(
                    "UPDATE \(text) AS t SET \(quoted(companion)) = d.\(entity) FROM \(far) AS d "
                        + "WHERE d.\(key) = t.\(name)")
            }
        }
        try run(statements)
    }

    // MARK: Pairs

    private func fill(_ table: ServerJoinTable) throws {
        let relationship = table.relationship
        guard let source = difference.source(of: relationship, in: relationship.entity) as? NSRelationshipDescription,
            let destination = relationship.destinationEntity
        else { return }
        let select: String
        let hasOrder: Bool
        switch source.isToMany ? old.storage(of: source) : nil {
        case .joinTable(let name, let owner, let far, let order):
            hasOrder = order != nil && table.order != nil
            select =
                "SELECT o.\(quoted(owner)), o.\(quoted(far))\(hasOrder ? ", o." + quoted(order ?? "") : "") "
                + "FROM \(old.tableText(parked(name))) AS o"
        case .foreignKey(let column, let order):
            guard let member = source.destinationEntity else { return }
            hasOrder = order != nil && table.order != nil
            select =
                "SELECT o.\(quoted(column)), o.\(key)\(hasOrder ? ", o." + quoted(order ?? "") : "") "
                + "FROM \(old.tableText(parked(old.table(of: member)))) AS o WHERE o.\(quoted(column)) IS NOT NULL"
        case nil:
            guard let column = old.column(of: source, in: source.entity) else { return }
            hasOrder = false
            select =
                "SELECT o.\(key), o.\(quoted(column)) FROM \(old.tableText(parked(old.table(of: source.entity)))) AS o "
                + "WHERE o.\(quoted(column)) IS NOT NULL"
        }
        let columns = [table.owner, table.destination] + (hasOrder ? [table.order].compactMap(\.self) : [])
        let names = hasOrder ? "a, b, c" : "a, b"
        try run([
            "INSERT INTO \(new.tableText(table.name)) (\(columns.map(quoted).joined(separator: ", "))) "
                + "SELECT \(names) FROM (\(select)) AS p(\(names)) "
                + "WHERE EXISTS (SELECT 1 FROM \(new.tableText(of: relationship.entity)) AS d WHERE d.\(key) = p.a) "
                + "AND EXISTS (SELECT 1 FROM \(new.tableText(of: destination)) AS d WHERE d.\(key) = p.b) "
                + "ON CONFLICT DO NOTHING"
        ])
    }

    // MARK: Checks

    /// Every attribute that is required has a value in every row.
    private func check(_ table: ServerTable) throws {
        for (entity, _) in kept(table) where !entity.isAbstract {
            for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name })
            where !attribute.isOptional && !attribute.isTransient {
                guard let column = new.column(of: attribute, in: entity) else { continue }
                let result = try connection.run([
                    ServerStatement(
                        "SELECT count(*) FROM \(new.tableText(table.name)) WHERE \(self.entity) = ? AND "
                            + "\(quoted(column)) IS NULL", [.value(.integer(new.number(of: entity)), .integer)])
                ])[0]
                guard case .integer(let missing) = result.value(0, 0), missing > 0 else { continue }
                throw CoreDataError.make(
                    134110,
                    "The store cannot be migrated: \(missing) objects have no value for "
                        + "\(entity.name ?? "").\(attribute.name), which is required and has no default.",
                    userInfo: ["entity": entity.name ?? "", "attribute": attribute.name])
            }
        }
    }

    /// The history begins anew: what is in it names properties of the old version.
    private func adjustHistory() throws {
        try run([
            "DELETE FROM \(new.tableText(ServerStoreTables.changes))",
            "DELETE FROM \(new.tableText(ServerStoreTables.transactions))",
        ])
    }
}
