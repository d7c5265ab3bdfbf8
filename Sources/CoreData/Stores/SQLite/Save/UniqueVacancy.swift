import SQLiteAccess

/// Clears unique values of rows that are about to get others, so that rows can swap them or pass them on. SQLite checks
/// uniqueness after each statement, not at the end of a transaction.
struct UniqueVacancy {
    let connection: Connection
    let layout: TableLayout

    /// Skips rows that another context or process has changed. The following updates find these conflicts.
    func vacate(_ rows: [StoreRowChange]) throws {
        for row in rows {
            let columns = uniqueColumns(changedBy: row)
            guard !columns.isEmpty, let key = row.id.rowKey else { continue }
            let list = columns.map { "\(SQLName.quoted($0)) = NULL" }.joined(separator: ", ")
            let table = SQLName.quoted(layout.table(of: row.id.entity))
            try connection.execute(
                "UPDATE \(table) SET \(list) WHERE Z_PK = ? AND Z_OPT = ?",
                [.integer(key.reference), .integer(row.baseVersion)])
        }
    }

    private func uniqueColumns(changedBy row: StoreRowChange) -> [String] {
        let entity = row.id.entity
        var unique: Set<String> = []
        var ancestor: NSEntityDescription? = entity
        while let current = ancestor {
            unique.formUnion(current.uniquenessConstraintNames.joined())
            ancestor = current.superentity
        }
        return row.changedSlots.compactMap { slot in
            let property = entity.layout.slots[slot]
            return unique.contains(property.name) ? layout.column(of: property, in: entity) : nil
        }
    }
}
