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
    private let ownTexts: Set<String>
    /// The names of indexes, in upper case: what has the name of one is in its place, whatever its text.
    private let ownIndexes: Set<String>
    private let newIndexes: Set<String>
    /// The tables that stay as they are, in upper case.
    private var staying: Set<String> = []
    /// Those that are altered, by their old names, in upper case.
    private var altered: Set<String> = []
    /// The indexes of altered tables that stay.
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

    /// The name in a statement that makes an index, in upper case.
    private static func indexName(_ statement: String) -> String? {
        guard let end = statement.firstRange(of: " ON "), let start = statement.firstRange(of: "INDEX ") else {
            return nil
        }
        let name = statement[start.upperBound..<end.lowerBound]
        let bare = name.hasPrefix("\"") ? name.dropFirst().dropLast().replacing("\"\"", with: "\"") : name
        return bare.uppercased()
    }

    // MARK: Tables that keep their rows

    /// The number of indexes of a table.
    func indexCount(of table: String) -> Int { indexes(of: table).count }

    /// Returns true if the user has indexes of a table.
    func hasForeignIndexes(_ table: String) -> Bool { indexes(of: table).contains { !isOwn($0) } }

    private func indexes(of table: String) -> [Entry] {
        entries.filter { $0.type == "index" && $0.table.uppercased() == table.uppercased() }
    }

    private func isOwn(_ entry: Entry) -> Bool {
        ownTexts.contains(entry.sql) || entry.type == "index" && ownIndexes.contains(entry.name.uppercased())
    }

    /// Says which tables are not made anew.
    ///
    /// - Parameter staying: by name.
    mutating func keep(_ staying: Set<String>, altering alterations: [TableAlteration]) {
        self.staying = Set(staying.map { $0.uppercased() })
        altered = Set(alterations.map { $0.oldName.uppercased() })
        takesViews = alterations.contains(where: \.takesNames)
    }

    /// Takes away those indexes of an altered table that do not read as the new version has them, now that its columns have
    /// their new names. SQLite brings the names into the texts of indexes.
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

    /// Whether an index of the new version stands there already, and goes on to.
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

    /// Indexes of the history and of tables that are not the model's stay.
    private func isOfRows(_ entry: Entry) -> Bool { entry.table.uppercased().hasPrefix("Z") }

    // MARK: What goes and comes back

    /// Takes away all triggers, the R-trees, the indexes that the new version does not have, and views where names change: SQLite
    /// would bring the names into them, and refuse to where they name what is not there.
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

    /// Makes the views, triggers and indexes of others again, as far as what they look at is still there.
    func restoreForeign() {
        for entry in entries where entry.type == "view" && takesViews { try? connection.execute(entry.sql) }
        for entry in entries where ["index", "trigger"].contains(entry.type) && !isOwn(entry) && !isKept(entry) {
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
