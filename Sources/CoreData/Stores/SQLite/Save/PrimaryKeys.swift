import SQLiteAccess

/// Reserves keys for new rows. The counter in `Z_PRIMARYKEY` is shared with other processes, so it is raised in a
/// transaction.
struct PrimaryKeys {
    let connection: Connection

    /// Reserves `count` keys from the counter of `entity` (the `Z_ENT` of a root).
    ///
    /// - Parameter table: the table of the rows. A counter that is behind it, for example after rows were inserted by
    ///   hand, is corrected.
    /// - Returns: the first key; the others are consecutive.
    func reserve(_ count: Int64, entity: Int64, table: String) throws -> Int64 {
        if connection.isInTransaction { return try raise(by: count, entity: entity, table: table) }
        return try connection.transaction { try raise(by: count, entity: entity, table: table) }
    }

    /// The counter; 0 if it is not an integer. It is then behind the table and is corrected.
    private static let counter = "CASE typeof(Z_MAX) WHEN 'integer' THEN Z_MAX ELSE 0 END"

    /// Starts from the greater of the counter and the table's last key. The write lock excludes other connections.
    private func raise(by count: Int64, entity: Int64, table: String) throws -> Int64 {
        let used = try connection.integer(
            "SELECT MAX(\(Self.counter), (SELECT IFNULL(MAX(Z_PK), 0) FROM \(SQLName.quoted(table)))) "
                + "FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(entity)])
        if let used, used >= .max - count {
            throw CoreDataError.make(
                134030,
                "The store \(connection.path) has no keys left for its table \(table): the last key is \(used). The "
                    + "file is damaged; run roster check.")
        }
        let last = try connection.integer(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(\(Self.counter), "
                + "(SELECT IFNULL(MAX(Z_PK), 0) FROM \(SQLName.quoted(table)))) + ? WHERE Z_ENT = ? RETURNING Z_MAX",
            [.integer(count), .integer(entity)])
        guard let last, case (let first, false) = last.subtractingReportingOverflow(count - 1) else {
            throw CoreDataError.make(
                134020,
                "The store \(connection.path) is damaged: its table \(table) has no key counter. Run roster check.")
        }
        return first
    }
}
