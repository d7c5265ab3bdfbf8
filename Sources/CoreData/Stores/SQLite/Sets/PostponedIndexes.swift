import SQLiteAccess

/// Indexes that a batch of many new rows drops, and creates again at its end in the same transaction.
///
/// SQLite sorts all rows of a table in a fraction of the time for inserting each into an index. The number of rows is
/// not known in advance, so indexes are updated until the number of new rows is half that of the old ones. Sorting
/// everything then takes less time than the first half did, even if few rows follow.
struct PostponedIndexes {
    private struct Table {
        let rowsBefore: Int64
        var inserted: Int64 = 0
        var isDecided = false
    }

    private let connection: Connection
    private var tables: [String: Table] = [:]
    /// The statements that create the dropped indexes.
    private var texts: [String] = []

    /// The minimum number of rows. With fewer, indexes are updated for each row.
    private static let fewest: Int64 = 8 * 1024

    init(_ connection: Connection) { self.connection = connection }

    /// Drops the indexes of a table if that is worthwhile.
    ///
    /// - Parameters:
    ///   - count: the number of rows just inserted.
    ///   - table: the table's name. It must have no triggers.
    ///   - rowsBefore: the maximum number of rows before the batch.
    mutating func didInsert(_ count: Int, into table: String, rowsBefore: Int64) throws {
        var state = tables[table] ?? Table(rowsBefore: rowsBefore)
        state.inserted += Int64(count)
        defer { tables[table] = state }
        guard !state.isDecided, state.inserted >= max(Self.fewest, state.rowsBefore / 2) else { return }
        state.isDecided = true
        // Dropping an index loses its ANALYZE statistics, which only ANALYZE creates again.
        guard try connection.integer("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'sqlite_stat_'") == 0 else {
            return
        }
        for row in try connection.rows(Self.indexesText, [.text(table)]) {
            guard case .text(let name) = row[0], case .text(let text) = row[1] else { continue }
            do {
                try connection.execute("DROP INDEX \(SQLName.quoted(name))")
            } catch let error as SQLiteError where error.kind == .busy {
                // A statement of this connection is still reading the table.
                return
            }
            texts.append(text)
        }
        guard !texts.isEmpty, try connection.integer(Self.countOfIndexes, [.text(table)]) == 0 else { return }
        // From now on rows are only appended to this table.
        try connection.setPragma("cache_size", to: SQLiteSession.smallCache)
    }

    /// Creates the dropped indexes.
    mutating func makeAnew() throws {
        if texts.isEmpty { return }
        // Sorting takes as much memory as the cache.
        try connection.setPragma("cache_size", to: SQLiteSession.smallCache)
        for text in texts { try connection.execute(text) }
        texts = []
    }

    private static let countOfIndexes =
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE"
    /// Selects the indexes of a table to drop. Unique indexes are kept, because they must refuse rows.
    private static let indexesText =
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL "
        + "AND sql NOT LIKE 'CREATE UNIQUE%' ORDER BY rowid"
}
