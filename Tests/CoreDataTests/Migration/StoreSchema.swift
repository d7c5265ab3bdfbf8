import Foundation
import SQLiteAccess

/// The schema of a file, to be compared with another one. In which order a table has its columns, and what it says of values that
/// statements leave out, is not told: all statements name their columns.
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

    private static func string(_ value: SQLiteValue) -> String { if case .text(let text) = value { text } else { "" } }
}
