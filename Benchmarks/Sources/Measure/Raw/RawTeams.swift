import CSQLite3Raw
import Foundation

/// The records as a C program would store and process them.
final class RawTeams {
    /// A row as a C structure.
    struct Row {
        var key: Int64
        var name: UnsafeMutablePointer<CChar>?
        var zone: UnsafeMutablePointer<CChar>?
        var wins: Int64
        var founded: Double
        var venue: Int64
    }

    private var rows: [Row] = []

    init() {}

    init(_ records: [League.Record]) {
        rows = records.enumerated().map { number, record in
            Row(
                key: Int64(number + 1), name: strdup(record.name), zone: strdup(record.zone), wins: Int64(record.wins),
                founded: record.founded, venue: Int64(record.venue))
        }
    }

    deinit {
        for row in rows {
            free(row.name)
            free(row.zone)
        }
    }

    var count: Int { rows.count }

    // MARK: Writing

    /// Columns of the framework's table and of its history.
    static let schema = """
        CREATE TABLE ZTEAM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZVENUE INTEGER, ZWINS INTEGER,
          ZFOUNDED TIMESTAMP, ZQUALIFYINGZONE VARCHAR, ZTEAMNAME VARCHAR);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
          ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
        CREATE INDEX byTransaction ON ACHANGE (ZTRANSACTIONID);
        """
    static let index = "CREATE INDEX byZone ON ZTEAM (ZQUALIFYINGZONE, ZWINS DESC, ZTEAMNAME)"

    /// Inserts all rows in one transaction.
    func insert(into database: RawDatabase, keepsHistory: Bool) {
        database.execute("BEGIN IMMEDIATE")
        database.with("INSERT INTO ZTEAM VALUES (?, 1, 1, ?, ?, ?, ?, ?)") { statement in
            for row in rows {
                sqlite3_bind_int64(statement, 1, row.key)
                sqlite3_bind_int64(statement, 2, row.venue)
                sqlite3_bind_int64(statement, 3, row.wins)
                sqlite3_bind_double(statement, 4, row.founded)
                sqlite3_bind_text(statement, 5, row.zone, -1, rawStatic)
                sqlite3_bind_text(statement, 6, row.name, -1, rawStatic)
                runRaw(statement)
            }
        }
        if keepsHistory { Self.writeHistory(of: rows.map(\.key), kind: 0, firstKey: 1, transaction: 1, database) }
        database.execute("COMMIT")
    }

    /// Inserts a change for each row, as in the framework's history.
    static func writeHistory(
        of keys: [Int64], kind: Int32, firstKey: Int64, transaction: Int64, _ database: RawDatabase
    ) {
        let text = "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) "
        database.with(text + "VALUES (?, 16002, ?, 1, ?, ?)") { statement in
            for (number, key) in keys.enumerated() {
                sqlite3_bind_int64(statement, 1, firstKey + Int64(number))
                sqlite3_bind_int(statement, 2, kind)
                sqlite3_bind_int64(statement, 3, key)
                sqlite3_bind_int64(statement, 4, transaction)
                runRaw(statement)
            }
        }
    }

    // MARK: Reading

    static let order = "ZQUALIFYINGZONE, ZWINS DESC, ZTEAMNAME, Z_PK"
    static let columns = "Z_PK, ZTEAMNAME, ZQUALIFYINGZONE, ZWINS, ZFOUNDED, ZVENUE"

    /// Returns the current row of a statement with ``columns``; texts are copied.
    static func row(_ statement: OpaquePointer) -> Row {
        func text(_ column: Int32) -> UnsafeMutablePointer<CChar>? {
            sqlite3_column_text(statement, column).map {
                strdup(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
        }
        return Row(
            key: sqlite3_column_int64(statement, 0), name: text(1), zone: text(2),
            wins: sqlite3_column_int64(statement, 3), founded: sqlite3_column_double(statement, 4),
            venue: sqlite3_column_int64(statement, 5))
    }

    func append(_ row: Row) { rows.append(row) }

    /// Appends all rows that `sql` finds.
    func read(_ sql: String, from database: RawDatabase) {
        database.forEachRow(sql) { rows.append(Self.row($0)) }
    }

    /// Returns the keys that `sql` finds.
    static func keys(_ sql: String, from database: RawDatabase) -> [Int64] {
        var keys: [Int64] = []
        database.forEachRow(sql) { keys.append(sqlite3_column_int64($0, 0)) }
        return keys
    }
}
