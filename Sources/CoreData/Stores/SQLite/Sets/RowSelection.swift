import SQLiteAccess

/// The rows that match a query, for statements that change all of them.
struct RowSelection {
    let entities: [NSEntityDescription]
    let layout: TableLayout
    /// The quoted table, with the alias `t0`.
    let table: String
    /// ` WHERE …` over `t0`, or an empty fragment.
    let clause: SQLFragment

    /// `nil` if the query has a limit or no exact SQL, or if triggers have to run for each row.
    init?(_ query: StoreQuery, _ session: SQLiteSession) throws {
        layout = session.layout
        guard !query.isLimited, !layout.hasDerivedAttributes else { return nil }
        entities = query.includesSubentities ? query.entity.family : [query.entity]
        let name = layout.table(of: query.entity)
        guard try session.connection.integer(RowStatements.triggerCountText, [.text(name)]) == 0 else { return nil }
        table = "\(SQLName.quoted(name)) AS t0"
        var joins = SQLJoins(entity: query.entity, schema: layout)
        let builder = SelectBuilder(
            query: query, schema: layout, storeIdentifier: session.context.storeIdentifier)
        let condition = try builder.condition(joins: &joins)
        guard condition.isExact else { return nil }
        clause =
            joins.isAlone
            ? condition.clause : " WHERE t0.Z_PK IN (SELECT t0.Z_PK FROM " + joins.from + condition.clause + ")"
    }

    /// A statement that selects `list` from the chosen rows: `SELECT list FROM …`.
    func select(_ list: SQLFragment) -> SQLFragment { "SELECT " + list + " FROM \(table)" + clause }

    /// Returns true if there is any row.
    func isEmpty(_ connection: Connection) throws -> Bool {
        let any = select(SQLFragment("1")) + " LIMIT 1"
        return try connection.integer(any.text, any.bound) == nil
    }
}

extension HistoryWriter {
    /// Adds a history change for each row of a selection to a transaction. Called before the rows change.
    ///
    /// - Returns: the number of rows.
    func append(_ kind: StoreTransaction.Kind, _ rows: RowSelection, columns: SQLFragment, to number: Int64) throws
        -> Int
    {
        // Reserving no keys raises the counter to the table's last key, here and after the insertion.
        let first = try reserve(0)
        let list =
            SQLFragment(
                "? + ROW_NUMBER() OVER (ORDER BY t0.Z_PK), \(HistoryTables.change), \(kind.rawValue), t0.Z_ENT, t0.Z_PK, ?, ",
                [.integer(first - 1), .integer(number)]) + columns
        let insert =
            "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) "
            + rows.select(list)
        try connection.execute(insert.text, insert.bound)
        let count = connection.changes
        _ = try reserve(0)
        return count
    }
}
