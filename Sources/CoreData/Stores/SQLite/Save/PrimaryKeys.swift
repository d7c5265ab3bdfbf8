import SQLiteAccess

/// Hands out keys for new rows. The counter in `Z_PRIMARYKEY` is shared with other processes: it is raised
/// in a transaction of its own.
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

    /// The counter; 0 if it holds something else, which lags behind the table and is set right as that is.
    private static let counter = "CASE typeof(Z_MAX) WHEN 'integer' THEN Z_MAX ELSE 0 END"

    /// Takes the greater of the counter and the table's last key. With the writer's lock held no other connection comes
    /// in between.
    private func raise(by count: Int64, entity: Int64, table: String) throws -> Int64 {
        let used = try connection.integer(
            "SELECT MAX(\(Self.counter), (SELECT IFNULL(MAX(Z_PK), 0) FROM \(SQLName.quoted(table)))) "
                + "FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(entity)])
        if let used, used >= .max - count {
            throw CoreDataError.make(
                134030,
                "The store \(connection.path) has no keys left for its table \(table): the last is \(used). The "
                    + "file is damaged; look at it with a check of the store.")
        }
        let last = try connection.integer(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(\(Self.counter), "
                + "(SELECT IFNULL(MAX(Z_PK), 0) FROM \(SQLName.quoted(table)))) + ? WHERE Z_ENT = ? RETURNING Z_MAX",
            [.integer(count), .integer(entity)])
        guard let last, case (let first, false) = last.subtractingReportingOverflow(count - 1) else {
            throw CoreDataError.make(
                134020, "The store \(connection.path) has no counter for its table \(table): it is damaged.")
        }
        return first
    }
}
