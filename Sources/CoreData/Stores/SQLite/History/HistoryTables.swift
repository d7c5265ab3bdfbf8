import SQLiteAccess

/// The three tables of the persistent history: names, entity numbers and the statements that create them.
enum HistoryTables {
    static let change: Int64 = 16001
    static let transaction: Int64 = 16002
    static let transactionString: Int64 = 16003

    /// Returns the statements that create the tables.
    ///
    /// - Parameter tombstones: the number of columns for values of deleted rows.
    static func statements(tombstones: Int) -> [String] {
        let head = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
        let columns = (0..<tombstones).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
        return [
            "CREATE TABLE ACHANGE ( \(head), ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
                + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(columns) )",
            "CREATE TABLE ATRANSACTION ( \(head), ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, "
                + "ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
                + "ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
            "CREATE TABLE ATRANSACTIONSTRING ( \(head), ZNAME VARCHAR )",
            "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
            "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
            "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
            "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
            "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
            "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
            "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
            "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
        ]
    }

    /// Creates the tables and their counters within the caller's transaction.
    static func create(on connection: Connection, tombstones: Int) throws {
        for statement in statements(tombstones: tombstones) { try connection.execute(statement) }
        try addCounters(on: connection)
    }

    private static let counters: [(number: Int64, name: String, table: String)] = [
        (change, "CHANGE", "ACHANGE"), (transaction, "TRANSACTION", "ATRANSACTION"),
        (transactionString, "TRANSACTIONSTRING", "ATRANSACTIONSTRING"),
    ]

    /// Returns true if one of the tables has no counter, because some frameworks add it with the first transaction.
    static func lackCounters(_ connection: Connection) throws -> Bool {
        let numbers = counters.map { "\($0.number)" }.joined(separator: ", ")
        let found = try connection.integer("SELECT COUNT(DISTINCT Z_ENT) FROM Z_PRIMARYKEY WHERE Z_ENT IN (\(numbers))")
        return found != Int64(counters.count)
    }

    /// Adds missing counters with the last keys of their tables, within the caller's transaction.
    static func addCounters(on connection: Connection) throws {
        for (number, name, table) in counters {
            try connection.execute(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT ?1, ?2, 0, "
                    + "(SELECT IFNULL(MAX(Z_PK), 0) FROM \(table)) WHERE NOT EXISTS "
                    + "(SELECT 1 FROM Z_PRIMARYKEY WHERE Z_ENT = ?1)",
                [.integer(number), .text(name)])
        }
    }

    /// Adds missing columns for values of deleted rows.
    static func addTombstoneColumns(upTo count: Int, in file: StoredSchema, on connection: Connection) throws {
        let present = Set(file.columns(of: "ACHANGE"))
        for number in 0..<count where !present.contains("ZTOMBSTONE\(number)") {
            try connection.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(number) BLOB")
        }
    }
}
