import SQLiteAccess

/// Finds contradictions within the history, and between the history and the rows.
struct HistoryCheck {
    let connection: Connection
    let layout: TableLayout

    func entries() throws -> [StoreCheck.Entry] {
        var entries: [StoreCheck.Entry] = []
        let orphaned = "ZTRANSACTIONID IS NULL OR ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)"
        if let found = try RowCount(connection, "ACHANGE WHERE \(orphaned)", key: "Z_PK") {
            entries.append(
                .init(
                    .history, "\(found) of the table ACHANGE: the transaction of the change does not exist",
                    repair: ["DELETE FROM ACHANGE WHERE \(orphaned)"]))
        }
        for column in ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"] {
            let missing = "\(column) IS NOT NULL AND \(column) NOT IN (SELECT Z_PK FROM ATRANSACTIONSTRING)"
            if let found = try RowCount(connection, "ATRANSACTION WHERE \(missing)", key: "Z_PK") {
                entries.append(
                    .init(
                        .history, "\(found) of the table ATRANSACTION: \(column) refers to a text that does not exist",
                        repair: ["UPDATE ATRANSACTION SET \(column) = NULL WHERE \(missing)"]))
            }
        }
        for entity in layout.entities where !entity.isAbstract { entries += try changes(of: entity) }
        return entries
    }

    /// Compares the last change of each row with the existence of the row.
    private func changes(of entity: NSEntityDescription) throws -> [StoreCheck.Entry] {
        guard layout.contains(entity) else { return [] }
        let name = entity.name ?? ""
        let number = layout.number(of: entity)
        let table = SQLName.quoted(layout.table(of: entity))
        let last = """
            (SELECT ZENTITYPK AS row, ZCHANGETYPE AS kind, MAX(Z_PK) FROM ACHANGE WHERE ZENTITY = \(number)
            GROUP BY ZENTITYPK) AS c
            """
        let there = "EXISTS (SELECT 1 FROM \(table) AS t WHERE t.Z_PK = c.row AND t.Z_ENT = \(number))"
        var entries: [StoreCheck.Entry] = []
        if let found = try RowCount(connection, "\(last) WHERE kind = 2 AND \(there)", key: "row") {
            entries.append(.init(.history, "\(found) of \(name): exists, but the history has its deletion"))
        }
        if let found = try RowCount(connection, "\(last) WHERE kind <> 2 AND NOT \(there)", key: "row") {
            entries.append(.init(.history, "\(found) of \(name): missing, but the history has no deletion"))
        }
        return entries
    }
}
