import Foundation
import SQLiteAccess

/// The schema of a file for comparisons. It omits the order of columns and their defaults, because all statements name
/// their columns.
enum StoreSchema {
    static func text(of url: URL) throws -> [String] {
        let connection = try Connection(path: url.path, access: .readWrite)
        defer { connection.close() }
        return try connection.rows("SELECT type, name, IFNULL(sql, '') FROM sqlite_master ORDER BY name").map { row in
            let (type, name, sql) = (string(row[0]), string(row[1]), string(row[2]))
            guard type == "table", !sql.hasPrefix("CREATE VIRTUAL") else { return "\(name): \(sql)" }
            let columns = try connection.rows(
                "SELECT name || ' ' || type || ' ' || \"notnull\" || ' ' || pk || ' ' || hidden FROM pragma_table_xinfo(?)",
                [.text(name)])
            return "\(name): \(columns.map { string($0[0]) }.sorted())"
        }
    }

    /// The rows of all tables except the store's metadata.
    static func rows(of url: URL) throws -> [String] {
        let connection = try Connection(path: url.path, access: .readWrite)
        defer { connection.close() }
        let tables = try connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('Z_METADATA', 'Z_MODELCACHE') "
                + "AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
        return try tables.flatMap { row in
            let name = string(row[0])
            return try connection.rows("SELECT * FROM \"\(name)\" ORDER BY 1, 2").map { "\(name): \($0)" }
        }
    }

    private static func string(_ value: SQLiteValue) -> String { if case .text(let text) = value { text } else { "" } }
}
