import SQLiteAccess

/// The indexes, triggers and R-trees of a store that is being migrated: which of them go, and which come back.
struct SchemaObjects {
    private struct Entry {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    private let connection: Connection
    private let entries: [Entry]
    private let staying: Set<String>
    private let ownTexts: Set<String>
    private let newIndexes: Set<String>

    /// - Parameter staying: the tables that are not made anew, by name.
    init(_ connection: Connection, old: TableLayout, new: TableLayout, staying: Set<String>) throws {
        self.connection = connection
        self.staying = Set(staying.map { $0.uppercased() })
        let text = SchemaText(layout: old)
        ownTexts = Set(text.indexes() + ((try? text.triggers()) ?? []))
        newIndexes = Set(SchemaText(layout: new).indexes())
        entries = try connection.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL "
                + "AND (type IN ('index', 'trigger') OR sql LIKE 'CREATE VIRTUAL TABLE%USING RTREE%')"
        ).compactMap { row in
            guard case .text(let type) = row[0], case .text(let name) = row[1], case .text(let table) = row[2],
                case .text(let sql) = row[3]
            else { return nil }
            return Entry(type: type, name: name, table: table, sql: sql)
        }
    }

    /// Whether an index of the new version stands there already, and goes on to.
    func stays(_ statement: String) -> Bool {
        entries.contains { $0.sql == statement && isKept($0) }
    }

    private func isKept(_ entry: Entry) -> Bool {
        guard entry.type == "index" else { return false }
        guard staying.contains(entry.table.uppercased()) else { return entry.table.hasPrefix("A") && !isOfRows(entry) }
        return newIndexes.contains(entry.sql) || !ownTexts.contains(entry.sql)
    }

    /// Indexes of the history and of tables that are not the model's stay.
    private func isOfRows(_ entry: Entry) -> Bool { entry.table.uppercased().hasPrefix("Z") }

    /// Takes away all triggers, the R-trees, and the indexes that the new version does not have.
    func drop() throws {
        for entry in entries where entry.type == "trigger" {
            try connection.execute("DROP TRIGGER IF EXISTS \(SQLName.quoted(entry.name))")
        }
        for entry in entries where entry.type == "index" && isOfRows(entry) && !isKept(entry) {
            try connection.execute("DROP INDEX IF EXISTS \(SQLName.quoted(entry.name))")
        }
        for entry in entries where entry.type == "table" && entry.name.hasPrefix("Z_RT_") {
            try connection.execute("DROP TABLE IF EXISTS \(SQLName.quoted(entry.name))")
        }
    }

    /// Makes the triggers and indexes of others again, as far as what they look at is still there.
    func restoreForeign() {
        for entry in entries where !ownTexts.contains(entry.sql) && !isKept(entry) && entry.type != "table" {
            guard !entry.name.hasPrefix("Z_") else { continue }
            try? connection.execute(entry.sql)
        }
    }
}

extension SchemaText {
    /// The statements of ``entityTables()`` with the names of the tables.
    func namedTables() -> [(name: String, statement: String)] {
        let names = layout.tables.flatMap { table in
            [table.name] + layout.joinTables.filter { $0.namer.root === table.root }.map(\.table.name)
        }
        return Array(zip(names, entityTables()))
    }
}
