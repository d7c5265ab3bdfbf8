import CoreData

/// The minimum rights of a role on a store's schema and tables, for reading or saving.
struct ServerGrants {
    let layout: ServerLayout

    /// Returns the SQL statements that grant a role the rights to read a store, or also to save to it.
    ///
    /// - Parameter role: as SQL text, quoted if necessary.
    func statements(to role: String, readOnly: Bool) -> [String] {
        let own = [
            ServerStoreTables.store, ServerStoreTables.entities, ServerStoreTables.transactions,
            ServerStoreTables.changes,
        ]
        let rows = layout.tables.map(\.name) + layout.joinTables.map(\.name)
        var rights = [
            "USAGE ON SCHEMA \(layout.dialect.quoted(layout.schemaName))",
            "SELECT ON \(list(own + rows + ServerViews(layout: layout).names))",
        ]
        if !readOnly {
            let store = layout.tableText(ServerStoreTables.store)
            rights.append("INSERT, UPDATE, DELETE ON \(list(rows))")
            // A save that affects other rows' derived values locks the table; a right on one column does not allow
            // that.
            rights.append(layout.derivingTables.isEmpty ? "UPDATE (changes) ON \(store)" : "UPDATE ON \(store)")
            rights.append("INSERT ON \(list([ServerStoreTables.transactions, ServerStoreTables.changes]))")
            rights.append("USAGE ON SEQUENCE \(list(layout.tables.map(\.sequence)))")
        }
        return rights.map { "GRANT \($0) TO \(role)" }
    }

    private func list(_ names: [String]) -> String { names.map(layout.tableText).joined(separator: ", ") }
}

extension ServerEngine: GrantingStore {
    package func grants(to role: String?, readOnly: Bool) throws -> [String] {
        let layout: ServerLayout = try open().0.layout
        return ServerGrants(layout: layout).statements(
            to: role.map(layout.dialect.quoted) ?? ":\"role\"", readOnly: readOnly)
    }
}
