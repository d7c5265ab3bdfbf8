import SQLiteAccess

/// Finds references to missing rows, and missing or duplicate positions in ordered relationships.
struct ReferenceCheck {
    let connection: Connection
    let layout: TableLayout

    private typealias Entry = StoreCheck.Entry

    func entries() throws -> [StoreCheck.Entry] {
        try layout.tables.flatMap(columns) + layout.joinTables.map(\.table).flatMap(pairs)
    }

    // MARK: Columns

    private func columns(of table: EntityTable) throws -> [Entry] {
        try table.columns.flatMap { column -> [Entry] in
            switch column.content {
            case .toOne(let relationship):
                guard let destination = relationship.destinationEntity else { return [] }
                return try reference(
                    column, of: table, to: destination, relationship,
                    isOptional: relationship.isOptional)
            case .owner(let relationship):
                return try reference(column, of: table, to: relationship.entity, relationship, isOptional: true)
            default: return []
            }
        }
    }

    private func reference(
        _ column: TableColumn, of table: EntityTable, to destination: NSEntityDescription,
        _ relationship: NSRelationshipDescription, isOptional: Bool
    ) throws -> [Entry] {
        guard layout.contains(destination) else { return [] }
        let (name, value) = (SQLName.quoted(table.name), SQLName.quoted(column.name))
        let target = SQLName.quoted(layout.table(of: destination))
        var entries: [Entry] = []
        let dangling =
            "\(value) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(target) AS d WHERE d.Z_PK = \(name).\(value))"
        if let found = try RowCount(connection, "\(name) WHERE \(dangling)", key: "Z_PK") {
            let emptied = [column] + companions(of: relationship, in: table)
            let terms = emptied.map { "\(SQLName.quoted($0.name)) = NULL" } + ["Z_OPT = IFNULL(Z_OPT, 0) + 1"]
            entries.append(
                Entry(
                    .reference,
                    "\(found) of the table \(table.name): “\(relationship.name)” refers to a row that does not exist",
                    repair: isOptional ? ["UPDATE \(name) SET \(terms.joined(separator: ", ")) WHERE \(dangling)"] : [])
            )
        }
        if let position = position(of: relationship, in: table) {
            entries += try places(
                in: name, shownAs: table.name, owner: value, place: SQLName.quoted(position.name), key: "Z_PK")
        }
        return entries
    }

    private func companions(of relationship: NSRelationshipDescription, in table: EntityTable) -> [TableColumn] {
        table.columns.filter { column in
            switch column.content {
            case .destinationEntity(let other), .position(let other), .ownerPosition(let other): other === relationship
            default: false
            }
        }
    }

    private func position(of relationship: NSRelationshipDescription, in table: EntityTable) -> TableColumn? {
        table.columns.first { column in
            switch column.content {
            case .position(let other), .ownerPosition(let other): other === relationship
            default: false
            }
        }
    }

    // MARK: Join tables

    private func pairs(of table: JoinTable) throws -> [Entry] {
        let name = SQLName.quoted(table.name)
        var entries: [Entry] = []
        for (end, other) in [(table.first, table.second), (table.second, table.first)] {
            let value = SQLName.quoted(end.column)
            let target = SQLName.quoted(layout.table(of: end.relationship.entity))
            let dangling =
                "\(value) IS NULL OR NOT EXISTS (SELECT 1 FROM \(target) AS d WHERE d.Z_PK = \(name).\(value))"
            if let found = try RowCount(connection, "\(name) WHERE \(dangling)", key: "rowid") {
                entries.append(
                    Entry(
                        .reference,
                        "\(found) of the table \(table.name): \(end.column) refers to a row that does not exist",
                        repair: ["DELETE FROM \(name) WHERE \(dangling)"]))
            }
            if let position = end.positionColumn {
                entries += try places(
                    in: name, shownAs: table.name, owner: SQLName.quoted(other.column),
                    place: SQLName.quoted(position), key: "rowid")
            }
        }
        return entries
    }

    // MARK: Ordered lists

    /// Finds lists with members that have no position or share one. The repair renumbers the members of these lists in
    /// their present order.
    private func places(
        in table: String, shownAs shown: String, owner: String, place: String, key: String
    ) throws -> [Entry] {
        let wrong = """
            SELECT \(owner) FROM \(table) WHERE \(owner) IS NOT NULL GROUP BY \(owner)
            HAVING COUNT(*) <> COUNT(DISTINCT \(place))
            """
        guard let found = try connection.integer("SELECT COUNT(*) FROM (\(wrong))"), found > 0 else { return [] }
        let first = try connection.integer(wrong + " ORDER BY 1 LIMIT 1") ?? 0
        let numbered = """
            SELECT \(key) AS k, ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(place) IS NULL, \(place), \(key)) AS n
            FROM \(table) WHERE \(owner) IN (\(wrong))
            """
        let lists = found == 1 ? "the list of row \(first)" : "\(found) lists (the first is that of row \(first))"
        return [
            Entry(
                .order, "\(lists) in \(place) of the table \(shown): members with a missing or duplicate position",
                repair: [
                    "UPDATE \(table) SET \(place) = (r.n + 1) * 1024 FROM (\(numbered)) AS r WHERE \(table).\(key) = r.k"
                ])
        ]
    }
}
