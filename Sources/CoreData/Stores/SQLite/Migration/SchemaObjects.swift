import SQLiteAccess

/// The indexes, triggers and R-trees of a store during a migration: those to drop, and those to restore.
struct SchemaObjects {
    private struct Entry {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    private let connection: Connection
    private let entries: [Entry]
    private let ownTexts: Set<String>
    /// The names of indexes in upper case. An index is replaced by one of the same name, whatever its text.
    private let ownIndexes: Set<String>
    private let newIndexes: Set<String>
    /// The unchanged tables, in upper case.
    private var staying: Set<String> = []
    /// The altered tables, by old name in upper case.
    private var altered: Set<String> = []
    /// The indexes of altered tables that are kept.
    private var keptTexts: Set<String> = []
    private var takesViews = false

    init(_ connection: Connection, old: TableLayout, new: TableLayout) throws {
        self.connection = connection
        let text = SchemaText(layout: old)
        let (oldIndexes, newIndexes) = (text.indexes(), SchemaText(layout: new).indexes())
        ownTexts = Set(oldIndexes + ((try? text.triggers()) ?? []))
        ownIndexes = Set((oldIndexes + newIndexes).compactMap(Self.indexName))
        self.newIndexes = Set(newIndexes)
        entries = try connection.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL "
                + "AND (type IN ('index', 'trigger', 'view') OR sql LIKE 'CREATE VIRTUAL TABLE%USING RTREE%')"
        ).compactMap { row in
            guard case .text(let type) = row[0], case .text(let name) = row[1], case .text(let table) = row[2],
                case .text(let sql) = row[3]
            else { return nil }
            return Entry(type: type, name: name, table: table, sql: sql)
        }
    }

    /// Returns the name in a CREATE INDEX statement, in upper case.
    private static func indexName(_ statement: String) -> String? {
        guard let end = statement.firstRange(of: " ON "), let start = statement.firstRange(of: "INDEX ") else {
            return nil
        }
        let name = statement[start.upperBound..<end.lowerBound]
        let bare = name.hasPrefix("\"") ? name.dropFirst().dropLast().replacing("\"\"", with: "\"") : name
        return bare.uppercased()
    }

    // MARK: Tables that keep their rows

    /// Returns the number of indexes of a table.
    func indexCount(of table: String) -> Int { indexes(of: table).count }

    /// Returns true if a table has indexes of other programs.
    func hasForeignIndexes(_ table: String) -> Bool { indexes(of: table).contains { !isOwn($0) } }

    private func indexes(of table: String) -> [Entry] {
        entries.filter { $0.type == "index" && $0.table.uppercased() == table.uppercased() }
    }

    private func isOwn(_ entry: Entry) -> Bool {
        ownTexts.contains(entry.sql) || entry.type == "index" && ownIndexes.contains(entry.name.uppercased())
    }

    /// Sets the tables that keep their rows.
    ///
    /// - Parameter staying: the names of unchanged tables.
    mutating func keep(_ staying: Set<String>, altering alterations: [TableAlteration]) {
        self.staying = Set(staying.map { $0.uppercased() })
        altered = Set(alterations.map { $0.oldName.uppercased() })
        takesViews = alterations.contains(where: \.takesNames)
    }

    /// Drops those indexes of an altered table whose text differs from the new version. Called after its columns have
    /// their new names, which SQLite writes into the texts of indexes.
    mutating func dropIndexes(ofAltered table: String) throws {
        let rows = try connection.rows(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE "
                + "AND sql IS NOT NULL", [.text(table)])
        for row in rows {
            guard case .text(let name) = row[0], case .text(let sql) = row[1] else { continue }
            if newIndexes.contains(sql) {
                keptTexts.insert(sql)
            } else if entries.contains(where: { $0.type == "index" && $0.name == name && isOwn($0) }) {
                try connection.execute("DROP INDEX \(SQLName.quoted(name))")
            }
        }
    }

    /// True if an index of the new version already exists and is kept.
    func stays(_ statement: String) -> Bool {
        keptTexts.contains(statement)
            || entries.contains {
                $0.sql == statement && !altered.contains($0.table.uppercased()) && isKept($0)
            }
    }

    private func isKept(_ entry: Entry) -> Bool {
        guard entry.type == "index" else { return false }
        if altered.contains(entry.table.uppercased()) { return true }
        guard staying.contains(entry.table.uppercased()) else { return entry.table.hasPrefix("A") && !isOfRows(entry) }
        return newIndexes.contains(entry.sql) || !isOwn(entry)
    }

    /// True if a table contains rows of the model. False for tables of the history and for tables that are not the
    /// model's, whose indexes are kept.
    private func isOfRows(_ entry: Entry) -> Bool { entry.table.uppercased().hasPrefix("Z") }

    // MARK: Dropping and restoring

    /// Drops all triggers, the R-trees, the indexes that the new version does not have, and, if names change, the
    /// views. SQLite would write new names into them, and fail if they name something that does not exist.
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
        for entry in entries where entry.type == "view" && takesViews {
            try connection.execute("DROP VIEW IF EXISTS \(SQLName.quoted(entry.name))")
        }
    }

    /// Creates the views, triggers and indexes of other programs again, if their tables and columns still exist.
    func restoreForeign() {
        for entry in entries where entry.type == "view" && takesViews { try? connection.execute(entry.sql) }
        for entry in entries where ["index", "trigger"].contains(entry.type) && !isOwn(entry) && !isKept(entry) {
            guard !entry.name.hasPrefix("Z_") else { continue }
            try? connection.execute(entry.sql)
        }
    }
}

extension SchemaText {
    /// Returns the statements of ``entityTables()`` with the names of the tables.
    func namedTables() -> [(name: String, statement: String)] {
        let names = layout.tables.flatMap { table in
            [table.name] + layout.joinTables.filter { $0.namer.root === table.root }.map(\.table.name)
        }
        return Array(zip(names, entityTables()))
    }
}
