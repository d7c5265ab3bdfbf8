import SQLiteAccess

/// Hands out keys for new rows. The counter in `Z_PRIMARYKEY` is shared with other processes: it is raised by
/// compare-and-swap, in a transaction of its own.
struct PrimaryKeys {
    let connection: Connection

    /// Reserves `count` keys under the counter of `entity` (the `Z_ENT` of a root).
    ///
    /// - Parameter table: the table whose rows have the keys. A counter that lags behind it, as after rows were put in by
    ///   hand, is set right.
    /// - Returns: the first of the keys; the others follow it.
    func reserve(_ count: Int64, entity: Int64, table: String) throws -> Int64 {
        if connection.isInTransaction { return try raise(by: count, entity: entity, table: table) }
        return try connection.transaction { try raise(by: count, entity: entity, table: table) }
    }

    private func raise(by count: Int64, entity: Int64, table: String) throws -> Int64 {
        let counter = try connection.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(entity)]) ?? 0
        let greatest = try connection.integer("SELECT MAX(Z_PK) FROM \(SQLName.quoted(table))") ?? 0
        let last = max(counter, greatest)
        try connection.execute(
            "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND IFNULL(Z_MAX, 0) = ?",
            [.integer(last + count), .integer(entity), .integer(counter)])
        guard connection.changes == 1 else {
            throw CoreDataError.make(
                134020, "The store \(connection.path) has no counter for its table \(table): it is damaged.")
        }
        return last + 1
    }
}
