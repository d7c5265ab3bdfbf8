import ModelFiles
import SQLiteAccess

/// A table or view of a file that is not a store.
struct FileTable {
    struct Column {
        let name: String
        let kind: AttributeKind
        /// The value, of the table `t`.
        let sql: String
    }

    /// A foreign key.
    struct Reference {
        let table: String
        /// `to` is `nil` for the primary key of the other table.
        var columns: [(from: String, to: String?)]
    }

    let name: String
    let isView: Bool
    /// An expression with the number of a row.
    let key: String
    let hasRowID: Bool
    /// The column that is the row number; `nil` if there is none.
    let rowIDColumn: String?
    let primaryKey: [String]
    let columns: [Column]
    let references: [Reference]
}

/// Reads the tables of a file that is not a store. Types are those of the values, not only as declared: SQLite keeps any
/// value in any column.
struct FileTableReader {
    private let connection: Connection

    /// The number of rows of a table whose values are looked at. A value of another type in a later row reads as nil,
    /// with a note.
    private static let rowsToLookAt = 1_000_000

    init(_ connection: Connection) { self.connection = connection }

    /// A name in double quotes, since it may be a word of SQL.
    static func quoted(_ name: String) -> String { SQLText.enclosed(name, in: "\"") }

    /// Tables and views, without those that belong to SQLite or to a virtual table.
    func names() throws -> [(name: String, isView: Bool)] {
        let rows = try connection.rows(
            "SELECT name, type, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE type IN ('table', 'view') "
                + "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, rowid")
        let virtual = rows.compactMap { row in row[2] == .integer(1) ? Self.text(row[0]) : nil }
        return rows.compactMap { row in
            let name = Self.text(row[0])
            if virtual.contains(where: { name.hasPrefix($0 + "_") }) { return nil }
            return (name, row[1] == .text("view"))
        }
    }

    /// The tables as statements name them.
    func views() throws -> [StoreView] {
        try names().map { name, _ in
            var view = StoreView(name: name)
            view.columns = try columns(of: name).map { StoreView.Column(name: $0.name, contents: $0.type) }
            return view
        }
    }

    func table(named name: String, isView: Bool) throws -> FileTable {
        let facts = try columns(of: name)
        let primaryKey = facts.filter { $0.place > 0 }.sorted { $0.place < $1.place }.map(\.name)
        let names = Set(facts.map { $0.name.lowercased() })
        let source = "main." + Self.quoted(name)
        let word = ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
        let hasRowID = try !isView && word.map { try isReadable("SELECT t.\($0) FROM \(source) AS t") } == true
        let order = primaryKey.map(Self.quoted).joined(separator: ", ")
        let key = hasRowID ? word ?? "rowid" : "ROW_NUMBER() OVER (\(order.isEmpty ? "" : "ORDER BY \(order)"))"
        let kinds = try kinds(of: facts, in: source)
        let alias = hasRowID && primaryKey.count == 1 ? facts.first { $0.name == primaryKey[0] } : nil
        return FileTable(
            name: name, isView: isView, key: key, hasRowID: hasRowID,
            rowIDColumn: alias?.type == "INTEGER" ? alias?.name : nil, primaryKey: primaryKey,
            columns: zip(facts, kinds).map { FileTable.Column(name: $0.name, kind: $1.kind, sql: $1.sql) },
            references: try references(of: name))
    }

    private struct ColumnFacts {
        let name: String
        /// As declared, in upper case.
        let type: String
        /// The place in the primary key, from 1; 0 outside of it.
        let place: Int64
    }

    /// Generated columns are columns; hidden ones of virtual tables are not.
    private func columns(of table: String) throws -> [ColumnFacts] {
        try connection.rows(
            "SELECT name, type, pk FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1 ORDER BY cid", [.text(table)]
        ).map { row in
            ColumnFacts(name: Self.text(row[0]), type: Self.text(row[1]).uppercased(), place: Self.integer(row[2]))
        }
    }

    private func references(of table: String) throws -> [FileTable.Reference] {
        var references: [FileTable.Reference] = []
        var last: Int64?
        let rows = try connection.rows(
            "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?, 'main') ORDER BY id DESC, seq",
            [.text(table)])
        for row in rows {
            if Self.integer(row[0]) != last {
                references.append(FileTable.Reference(table: Self.text(row[1]), columns: []))
            }
            last = Self.integer(row[0])
            let to = row[3] == .null ? nil : Self.text(row[3])
            references[references.count - 1].columns.append((Self.text(row[2]), to))
        }
        return references
    }

    private func isReadable(_ sql: String) throws -> Bool {
        do {
            _ = try connection.prepare(sql)
            return true
        } catch let error as SQLiteError where error.kind == .statement {
            return false
        }
    }

    private static func text(_ value: SQLiteValue) -> String { if case .text(let text) = value { text } else { "" } }

    private static func integer(_ value: SQLiteValue) -> Int64 {
        if case .integer(let number) = value { number } else { 0 }
    }

    // MARK: Types

    /// The types of the values found in a column.
    private struct Found {
        /// A bit for each kind: looked at for every value, so no set.
        var bits: Int32 = 0
        /// True if all integers are 0 or 1.
        var areFlags = true
    }

    private func kinds(of columns: [ColumnFacts], in source: String) throws -> [(kind: AttributeKind, sql: String)] {
        var found = columns.map { _ in Found() }
        guard !columns.isEmpty else { return [] }
        let list = columns.map { "t." + Self.quoted($0.name) }.joined(separator: ", ")
        let statement = try connection.prepare("SELECT \(list) FROM \(source) AS t LIMIT \(Self.rowsToLookAt)")
        while try statement.step() {
            for index in columns.indices {
                let kind = statement.kind(at: index)
                found[index].bits |= 1 << kind.rawValue
                if kind == .integer, found[index].areFlags {
                    found[index].areFlags = statement.integer(at: index) & ~1 == 0
                }
            }
        }
        return zip(columns, found).map { Self.kind(of: $0, $1) }
    }

    private static func kind(of column: ColumnFacts, _ found: Found) -> (kind: AttributeKind, sql: String) {
        let name = "t." + quoted(column.name)
        let kinds = Set([.integer, .real, .text, .blob].filter { found.bits & 1 << $0.rawValue != 0 } as [ColumnKind])
        if kinds.isEmpty { return (declaredKind(column.type), name) }
        if kinds == [.integer] {
            return (column.type.hasPrefix("BOOL") && found.areFlags ? .boolean : .integer64, name)
        }
        if kinds.isSubset(of: [.integer, .real]) { return (.double, name) }
        if kinds == [.text] { return (.string, name) }
        if kinds == [.blob] { return (.binary, name) }
        // Values of several types: all as text, bytes as SQL writes them.
        let text = "CASE typeof(\(name)) WHEN 'blob' THEN 'x''' || hex(\(name)) || '''' ELSE CAST(\(name) AS TEXT) END"
        return (.string, text)
    }

    /// The type by SQLite's rules of affinity.
    private static func declaredKind(_ type: String) -> AttributeKind {
        if type.contains("INT") { return .integer64 }
        if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return .string }
        if type.contains("BLOB") { return .binary }
        if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) { return .double }
        return .string
    }
}
