import SQLiteAccess

/// Indexes that a batch of many new rows takes away and makes anew at its end, in the same transaction.
///
/// SQLite sorts all rows of a table in a fraction of the time that it takes to put each into an index where it belongs. How many rows
/// will come is not known before the last; so the indexes are kept row by row until as many came as half of those that were there.
/// To sort them all then takes less than what the first half took, however few follow.
struct PostponedIndexes {
    private struct Table {
        let rowsBefore: Int64
        var inserted: Int64 = 0
        var isDecided = false
    }

    private let connection: Connection
    private var tables: [String: Table] = [:]
    /// The statements that make the indexes that were taken away.
    private var texts: [String] = []

    /// Fewer rows than this are put into the indexes one by one.
    private static let fewest: Int64 = 8 * 1024

    init(_ connection: Connection) { self.connection = connection }

    /// Takes the indexes of a table away when that is worth it.
    ///
    /// - Parameters:
    ///   - count: how many rows were inserted just now.
    ///   - table: its name. No triggers look at its rows.
    ///   - rowsBefore: how many rows it had at most before the batch.
    mutating func didInsert(_ count: Int, into table: String, rowsBefore: Int64) throws {
        var state = tables[table] ?? Table(rowsBefore: rowsBefore)
        state.inserted += Int64(count)
        defer { tables[table] = state }
        guard !state.isDecided, state.inserted >= max(Self.fewest, state.rowsBefore / 2) else { return }
        state.isDecided = true
        // SQLite drops what ANALYZE counted with an index; only ANALYZE counts it again.
        guard try connection.integer("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'sqlite_stat_'") == 0 else {
            return
        }
        for row in try connection.rows(Self.indexesText, [.text(table)]) {
            guard case .text(let name) = row[0], case .text(let text) = row[1] else { continue }
            do {
                try connection.execute("DROP INDEX \(SQLName.quoted(name))")
            } catch let error as SQLiteError where error.kind == .busy {
                // A statement of this connection still reads the table.
                return
            }
            texts.append(text)
        }
        guard !texts.isEmpty, try connection.integer(Self.countOfIndexes, [.text(table)]) == 0 else { return }
        // Rows of this table are only written to its end from now on.
        try connection.setPragma("cache_size", to: SQLiteSession.smallCache)
    }

    /// Makes the indexes that were taken away.
    mutating func makeAnew() throws {
        if texts.isEmpty { return }
        // What is sorted takes as much again as the cache.
        try connection.setPragma("cache_size", to: SQLiteSession.smallCache)
        for text in texts { try connection.execute(text) }
        texts = []
    }

    private static let countOfIndexes =
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE"
    /// Unique ones stay: they refuse rows.
    private static let indexesText =
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL "
        + "AND sql NOT LIKE 'CREATE UNIQUE%' ORDER BY rowid"
}
