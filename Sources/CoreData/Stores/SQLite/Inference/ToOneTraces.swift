import SQLiteAccess

/// Finds the columns of to-one relationships and their destinations.
struct ToOneTraces {
    /// A to-one relationship with its column.
    struct Column: Equatable {
        let column: String
        /// The number of the destination entity.
        let destination: Int64
        /// True if the row has a position in an ordered inverse.
        let isPlaced: Bool
        let table: String
        let destinationTable: String
    }

    let traces: StoreTraces
    let connection: Connection
    /// The version of the framework that wrote the file. Before ``ModelInference/clearIndexNames`` an index has the
    /// same name for a relationship as for an attribute.
    let frameworkVersion: Int
    private let mutual: MutualTraces

    init(traces: StoreTraces, connection: Connection, frameworkVersion: Int) throws {
        self.traces = traces
        self.connection = connection
        self.frameworkVersion = frameworkVersion
        mutual = try MutualTraces(traces: traces, connection: connection) { Self.candidates($0, traces) }
    }

    /// Returns those to-one columns of an entity's table that have a known destination entity.
    func columns(of root: StoreTraces.Entity) throws -> [Column] {
        let table = traces.table(of: root)
        return try Self.candidates(table, traces).compactMap { column in
            guard let destination = try destination(of: column, table) else { return nil }
            return Column(
                column: column, destination: destination.number,
                isPlaced: traces.columnNames(of: table).contains("Z_FOK_" + column.dropFirst()), table: table,
                destinationTable: traces.table(of: destination))
        }
    }

    /// Returns notes on columns that certainly are relationships, but have an unknown destination.
    func unclear(of root: StoreTraces.Entity, known: [Column]) throws -> [String] {
        let table = traces.table(of: root)
        let found = Set(known.map(\.column))
        return Self.candidates(table, traces).filter { !found.contains($0) && isCertain($0, table) }.map { column in
            "\(root.name).\(column.dropFirst().lowercased()) is a relationship with an unknown destination: "
                + "it is shown as a number"
        }
    }

    /// Returns the columns that may be to-one relationships: numbers with an index, or with a column for the entity.
    private static func candidates(_ table: String, _ traces: StoreTraces) -> [String] {
        (traces.columns[table] ?? []).compactMap { column in
            guard column.type == "INTEGER", column.name.hasPrefix("Z"), !column.name.hasPrefix("Z_"),
                ColumnName.numbered(column.name) == nil,
                companion(of: column.name, table, traces) != nil || hasIndex(column.name, table, traces)
            else { return nil }
            return column.name
        }
    }

    private static func hasIndex(_ column: String, _ table: String, _ traces: StoreTraces) -> Bool {
        (traces.indexes[table] ?? []).contains { index in
            index.columns == [column] && index.name.uppercased() == "\(table)_\(column)_INDEX"
        }
    }

    /// Returns true if the column certainly is a relationship: older frameworks gave attributes' indexes the same
    /// names.
    private func isCertain(_ column: String, _ table: String) -> Bool {
        Self.companion(of: column, table, traces) != nil || frameworkVersion >= ModelInference.clearIndexNames
            || traces.columnNames(of: table).contains("Z_FOK_" + column.dropFirst())
    }

    /// Returns the number in the name of the column with the destination's entity: `Z3_OWNER`.
    private static func companion(of column: String, _ table: String, _ traces: StoreTraces) -> Int64? {
        for other in traces.columnNames(of: table) {
            guard let (number, rest) = ColumnName.numbered(other), rest == "_" + column.dropFirst() else { continue }
            if traces.entity(numbered: number) != nil { return number }
        }
        return nil
    }

    // MARK: Destinations

    private func destination(of column: String, _ table: String) throws -> StoreTraces.Entity? {
        if let number = Self.companion(of: column, table, traces) { return traces.entity(numbered: number) }
        let name = String(column.dropFirst())
        // A destination with subentities would have a second column for its entity.
        let leaves = traces.entities.filter { !traces.hasSubentities($0.number) }
        let fitting = try leaves.filter { try fits($0, column, table) }
        let back = mutual.destination(of: column, table)
        if let back, !fitting.contains(where: { $0.name.uppercased() == name }) { return traces.entity(numbered: back) }
        let ranked = fitting.map { (entity: $0, rank: rank($0.name.uppercased(), name)) }.filter { $0.rank > 0 }
        if let best = ranked.map(\.rank).max() {
            let winners = ranked.filter { $0.rank == best }
            // A partial match of names counts only if there are rows that agree.
            guard winners.count == 1, try best == Self.sameName || hasValues(column, table) else { return nil }
            return winners[0].entity
        }
        guard isCertain(column, table), fitting.count == 1, try hasValues(column, table) else { return nil }
        return fitting[0]
    }

    private static let sameName = 3000

    /// Rates how well the name of a relationship matches a destination: the same name, one that ends with it
    /// (`HOMEVENUE`, `VENUE`), one that it ends with (`USER`, `APPUSER`). 0 means no match.
    private func rank(_ entity: String, _ relationship: String) -> Int {
        if relationship == entity { return Self.sameName }
        if relationship.hasSuffix(entity) { return 1000 + entity.count }
        return relationship.count > 2 && entity.hasSuffix(relationship) ? 1 : 0
    }

    /// Returns true if every value of the column is the key of a row of the entity.
    private func fits(_ entity: StoreTraces.Entity, _ column: String, _ table: String) throws -> Bool {
        let target = traces.table(of: entity)
        guard traces.columnNames(of: target).isSuperset(of: ["Z_PK", "Z_ENT"]) else { return false }
        let name = SQLName.quoted(column)
        return try connection.value(
            "SELECT 1 FROM \(SQLName.quoted(table)) WHERE \(name) IS NOT NULL AND \(name) NOT IN "
                + "(SELECT Z_PK FROM \(SQLName.quoted(target)) WHERE Z_ENT = ?) LIMIT 1", [.integer(entity.number)])
            == nil
    }

    private func hasValues(_ column: String, _ table: String) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM \(SQLName.quoted(table)) WHERE \(SQLName.quoted(column)) IS NOT NULL LIMIT 1") != nil
    }
}

/// Checks if two to-one relationships are inverses.
struct InverseTraces {
    let connection: Connection

    /// Returns true if the rows of both sides refer to each other, and there is at least one such pair.
    func areInverse(_ one: ToOneTraces.Column, _ other: ToOneTraces.Column) throws -> Bool {
        try leadsBack(one, other) && leadsBack(other, one)
            && connection.value(
                "SELECT 1 FROM \(SQLName.quoted(one.table)) WHERE \(SQLName.quoted(one.column)) IS NOT NULL LIMIT 1")
                != nil
    }

    private func leadsBack(_ one: ToOneTraces.Column, _ other: ToOneTraces.Column) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM \(SQLName.quoted(one.table)) AS a JOIN \(SQLName.quoted(other.table)) AS b "
                + "ON a.\(SQLName.quoted(one.column)) = b.Z_PK "
                + "WHERE b.\(SQLName.quoted(other.column)) IS NOT a.Z_PK LIMIT 1") == nil
    }
}
