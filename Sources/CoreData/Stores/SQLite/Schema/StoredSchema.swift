import SQLiteAccess

/// The schema in a store's file: tables, columns and entity numbers.
struct StoredSchema {
    let path: String
    /// Table name → column names, both in upper case, because SQLite ignores case.
    private let tables: [String: [String]]
    /// Table name → columns with a default.
    private let defaults: [String: Set<String>]
    /// `Z_NAME` → `Z_ENT`.
    let entityNumbers: [String: Int64]

    /// Reads the schema. Cost: one step for each column of the file.
    init(_ connection: Connection, path: String) throws {
        self.path = path
        // Table-valued pragmas fail for virtual tables whose module is missing.
        // The temporary ones are those of a file that is not a store.
        let sql = """
            WITH m AS (
                SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
                UNION SELECT name FROM sqlite_temp_master WHERE type IN ('table', 'view'))
            SELECT m.name, c.name, c.dflt_value IS NOT NULL FROM m, pragma_table_info(m.name) AS c
            ORDER BY m.name, c.cid
            """
        var tables: [String: [String]] = [:]
        var defaults: [String: Set<String>] = [:]
        try connection.withStatement(sql) { statement in
            while try statement.step() {
                let (table, column) = (statement.text(at: 0).uppercased(), statement.text(at: 1).uppercased())
                tables[table, default: []].append(column)
                if statement.integer(at: 2) != 0 { defaults[table, default: []].insert(column) }
            }
        }
        self.tables = tables
        self.defaults = defaults
        var numbers: [String: Int64] = [:]
        if tables["Z_PRIMARYKEY"] != nil {
            try connection.withStatement("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY") { statement in
                while try statement.step() { numbers[statement.text(at: 0)] = statement.integer(at: 1) }
            }
        }
        self.entityNumbers = numbers
    }

    var isEmpty: Bool { tables.isEmpty }

    func hasTable(_ name: String) -> Bool { tables[name.uppercased()] != nil }

    /// Returns the columns of a table in upper case; none if there is no such table.
    func columns(of table: String) -> [String] { tables[table.uppercased()] ?? [] }

    /// Returns true if the file has a default for a column.
    func hasDefault(_ column: String, in table: String) -> Bool {
        defaults[table.uppercased()]?.contains(column.uppercased()) ?? false
    }

    func table(_ name: String, hasColumns wanted: [String]) -> Bool {
        guard let columns = tables[name.uppercased()] else { return false }
        return wanted.allSatisfy { columns.contains($0.uppercased()) }
    }
}
