import SQLiteAccess

/// Finds cells whose SQLite type differs from their column's. They are read as nil.
struct ValueTypeCheck {
    let connection: Connection
    let layout: TableLayout

    func entries() throws -> [StoreCheck.Entry] { try layout.tables.flatMap(entries) }

    /// Checks all columns of a table in one pass.
    private func entries(of table: EntityTable) throws -> [StoreCheck.Entry] {
        let checked = table.columns.compactMap { column in
            column.attribute.flatMap { Self.condition(column, $0) }.map { (column: column, condition: $0) }
        }
        return try stride(from: 0, to: checked.count, by: Self.width).flatMap { start in
            try entries(of: table, Array(checked[start..<min(start + Self.width, checked.count)]))
        }
    }

    /// The maximum number of columns that one statement checks. SQLite limits a result to 2,000 columns.
    private static let width = 500

    private func entries(
        of table: EntityTable, _ checked: [(column: TableColumn, condition: String)]
    ) throws -> [StoreCheck.Entry] {
        let results = checked.map { column, condition in
            let name = SQLName.quoted(column.name)
            return "COUNT(CASE WHEN \(condition) THEN 1 END), MIN(CASE WHEN \(condition) THEN Z_PK END), "
                + "MIN(CASE WHEN \(condition) THEN typeof(\(name)) END)"
        }
        let sql = "SELECT \(results.joined(separator: ", ")) FROM \(SQLName.quoted(table.name))"
        let row = try connection.rows(sql).first ?? []
        return checked.enumerated().compactMap { place, item in
            guard case .integer(let count) = row[3 * place], count > 0, case .integer(let key) = row[3 * place + 1],
                case .text(let type) = row[3 * place + 2], let attribute = item.column.attribute
            else { return nil }
            let rows = count == 1 ? "row \(key)" : "\(count) rows (the first is \(key))"
            return .init(
                .value,
                "\(rows) of the table \(table.name): “\(attribute.name)” contains \(ColumnKind.title(ofType: type)) "
                    + "instead of \(attribute.attributeType.editorName) and reads as nil")
        }
    }

    /// Returns a condition that is true for cells of another type; `nil` for a column that may have any type.
    private static func condition(_ column: TableColumn, _ attribute: NSAttributeDescription) -> String? {
        guard let coding = ValueCoding(attribute), coding != .composite else { return nil }
        let name = SQLName.quoted(column.name)
        let types = [ColumnKind.integer, .real, .text, .blob].filter(coding.holds).map { "'\($0.typeName)'" }
        let other = "typeof(\(name)) NOT IN ('null', \(types.joined(separator: ", ")))"
        return coding == .uuid ? "(\(other) OR length(\(name)) <> 16)" : other
    }
}

extension ColumnKind {
    /// The type as in SQLite's `typeof()`.
    var typeName: String {
        switch self {
        case .integer: "integer"
        case .real: "real"
        case .text: "text"
        case .blob: "blob"
        case .null: "null"
        }
    }

    /// The type for messages.
    var title: String { Self.title(ofType: typeName) }

    static func title(ofType type: String) -> String {
        switch type {
        case "text": "a text"
        case "blob": "bytes"
        case "real": "a number with decimals"
        case "integer": "a whole number"
        default: "nothing"
        }
    }
}
