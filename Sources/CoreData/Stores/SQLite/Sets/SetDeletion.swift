import SQLiteAccess

/// Deletes all rows of a selection, if no delete rule affects other rows and no row has an external file.
struct SetDeletion {
    private let rows: RowSelection
    private let layout: TableLayout

    init?(_ rows: RowSelection, _ session: SQLiteSession) {
        self.rows = rows
        layout = session.layout
        for entity in rows.entities {
            guard session.statements[entity].externalDataText == nil, session.historyColumns[entity].preserved.isEmpty,
                entity.relationshipsByName.values.allSatisfy(Self.leavesOthersAlone)
            else { return nil }
        }
    }

    /// Returns true if rows at the other end do not change. Pairs in join tables are deleted with the row.
    private static func leavesOthersAlone(_ relationship: NSRelationshipDescription) -> Bool {
        if relationship.isTransient { return true }
        switch relationship.deleteRule {
        case .noActionDeleteRule: return true
        case .nullifyDeleteRule: return relationship.inverseRelationship?.isToMany != false
        default: return false
        }
    }

    /// Deletes the selected rows.
    ///
    /// - Returns: the number of rows.
    func run(_ connection: Connection) throws -> Int {
        let columns = columnsOfKeys()
        if columns.isEmpty {
            let deletion = "DELETE FROM \(rows.table)" + rows.clause
            try connection.execute(deletion.text, deletion.bound)
            return connection.changes
        }
        // Collect the rows first: clearing keys and pairs elsewhere may change which rows match.
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS ROSTERDOOMED (Z_PK INTEGER PRIMARY KEY)")
        try connection.execute("DELETE FROM temp.ROSTERDOOMED")
        let collect = "INSERT INTO temp.ROSTERDOOMED " + rows.select(SQLFragment("t0.Z_PK"))
        try connection.execute(collect.text, collect.bound)
        for column in columns { try connection.execute("\(column) IN (SELECT Z_PK FROM temp.ROSTERDOOMED)") }
        try connection.execute("DELETE FROM \(rows.table) WHERE t0.Z_PK IN (SELECT Z_PK FROM temp.ROSTERDOOMED)")
        let count = connection.changes
        try connection.execute("DELETE FROM temp.ROSTERDOOMED")
        return count
    }

    /// Returns statements, up to the column's name, for the columns of other tables that contain keys of the rows.
    private func columnsOfKeys() -> [String] {
        func isMet(_ entity: NSEntityDescription) -> Bool { rows.entities.contains { $0.isKindOf(entity: entity) } }
        var statements: [String] = []
        for (_, table) in layout.joinTables {
            for end in [table.first, table.second] where isMet(end.relationship.entity) {
                statements.append("DELETE FROM \(SQLName.quoted(table.name)) WHERE \(SQLName.quoted(end.column))")
            }
        }
        for table in layout.tables {
            for column in table.columns {
                guard case .owner(let relationship) = column.content, isMet(relationship.entity) else { continue }
                let name = SQLName.quoted(column.name)
                statements.append("UPDATE \(SQLName.quoted(table.name)) SET \(name) = NULL WHERE \(name)")
            }
        }
        return statements
    }
}
