import SQLiteAccess

/// Appends rows of one entity to its table, without a snapshot or an ID for each in memory.
struct SetInsertion {
    private let entity: RowStatements
    private let slots: [Int]
    private let connection: Connection
    private let binding: ValueBinding

    var tableName: String { entity.tableName }

    /// `nil` if a column is not plain, or triggers have to run for each row.
    init?(_ entity: NSEntityDescription, _ session: SQLiteSession, _ files: ExternalDataChanges) throws {
        self.entity = session.statements[entity]
        connection = session.connection
        guard let slots = self.entity.plainSlots, !session.layout.hasDerivedAttributes,
            try connection.integer(RowStatements.triggerCountText, [.text(self.entity.tableName)]) == 0
        else { return nil }
        self.slots = slots
        binding = ValueBinding(layout: session.layout, externalData: files)
    }

    /// Inserts rows with consecutive keys.
    ///
    /// - Parameter first: the key of the first row, greater than all keys in the table; the others are consecutive.
    func insert(_ rows: NewRows, from first: Int64) throws {
        var number = 0
        if let many = entity.insertSetText {
            let atOnce = rows.count / RowStatements.rowsAtOnce * RowStatements.rowsAtOnce
            try write(rows, 0..<atOnce, first, many, atOnce: RowStatements.rowsAtOnce)
            number = atOnce
        }
        try write(rows, number..<rows.count, first, entity.insertText, atOnce: 1)
    }

    private func write(
        _ rows: NewRows, _ range: Range<Int>, _ first: Int64, _ text: String, atOnce count: Int
    ) throws {
        guard !range.isEmpty else { return }
        try connection.withStatement(text) { statement in
            var number = range.lowerBound
            while number < range.upperBound {
                var place = 1
                for row in number..<number + count {
                    try statement.bind(first + Int64(row), at: place)
                    place += 1
                    let start = row * rows.width
                    for (index, slot) in slots.enumerated() {
                        try bind(rows.values[start + slot], index, to: statement, at: place)
                        place += 1
                    }
                }
                try statement.run()
                number += count
                guard connection.changes == count, connection.lastInsertedRowID == first + Int64(number) - 1 else {
                    throw CoreDataError.make(
                        134030,
                        "SQLite did not insert all rows of \(entity.tableName) with their keys. Run roster check.")
                }
            }
        }
    }

    @inline(__always)
    private func bind(_ value: SlotValue, _ index: Int, to statement: Statement, at place: Int) throws {
        switch value {
        case .null: try statement.bindNull(at: place)
        case .integer(let number): try statement.bind(number, at: place)
        case .real(let number): try statement.bind(number, at: place)
        case .text(let text): try statement.bindForOneRun(text, at: place)
        default:
            let column = entity.columns[index]
            try binding.bind(value, column.coding, attribute: column.property, to: statement, at: place)
        }
    }

    /// Writes the insertions of `count` rows from `first` on to the history.
    func writeHistory(_ history: HistoryWriter, from first: Int64, count: Int, to number: Int64) throws {
        let change = try history.reserve(Int64(count))
        try connection.execute(
            "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) "
                + "SELECT Z_PK + ?, \(HistoryTables.change), \(StoreTransaction.Kind.insert.rawValue), Z_ENT, Z_PK, ?, NULL "
                + "FROM \(entity.table) WHERE Z_PK BETWEEN ? AND ? ORDER BY Z_PK",
            [
                .integer(change - first), .integer(number), .integer(first), .integer(first + Int64(count) - 1),
            ])
    }
}
