import SQLiteAccess

/// Inserts rows of one entity whose columns are all plain: many per statement, and without access to `Column` objects.
struct PlainInsertion {
    private let entity: RowStatements
    private let slots: [Int]
    private let connection: Connection
    private let binding: ValueBinding

    /// The minimum number of rows for which preparing a statement for many rows is worthwhile.
    private static let manyRows = 256

    /// `nil` if a column of the entity is not plain.
    init?(_ entity: RowStatements, _ connection: Connection, _ binding: ValueBinding) {
        guard let slots = entity.plainSlots else { return nil }
        self.entity = entity
        self.slots = slots
        self.connection = connection
        self.binding = binding
    }

    /// Inserts rows, many with one statement.
    ///
    /// - Parameters:
    ///   - rows: sorted by key.
    ///   - reinserted: receives the rows whose version is greater than 1.
    ///   - reporter: counts the inserted rows.
    func insert(_ rows: [IdentifiedRow], _ reinserted: inout [IdentifiedRow], _ reporter: SaveReporter?) throws {
        var rest = rows[...]
        if rows.count >= Self.manyRows {
            let isAppending = try isAppending(rows)
            if let text = isAppending ? entity.appendManyText : entity.insertManyText {
                let many = rest.prefix(rest.count / RowStatements.rowsAtOnce * RowStatements.rowsAtOnce)
                try write(
                    many, text, atOnce: RowStatements.rowsAtOnce, isFirstKeyOnly: isAppending, &reinserted, reporter)
                rest = rest.suffix(from: many.endIndex)
            }
        }
        if !rest.isEmpty { try write(rest, entity.insertText, atOnce: 1, &reinserted, reporter) }
    }

    /// True if the keys are consecutive and greater than all keys of the table. False if the table has triggers: before
    /// the insertion they would not see the key that SQLite gives the row.
    private func isAppending(_ rows: [IdentifiedRow]) throws -> Bool {
        guard let first = rows.first?.id.savedKey, let last = rows.last?.id.savedKey, last &- first == rows.count - 1,
            try connection.integer(entity.lastKeyText) ?? 0 < first
        else { return false }
        return try connection.integer(RowStatements.triggerCountText, [.text(entity.tableName)]) == 0
    }

    /// - Parameters:
    ///   - rows: their number must be a multiple of `count`.
    ///   - isFirstKeyOnly: true if the statement has a parameter for the key of the first row only.
    private func write(
        _ rows: ArraySlice<IdentifiedRow>, _ text: String, atOnce count: Int, isFirstKeyOnly: Bool = false,
        _ reinserted: inout [IdentifiedRow], _ reporter: SaveReporter?
    ) throws {
        try connection.withStatement(text) { statement in
            var bound = 0
            var place = 1
            var next = rows.first?.id.savedKey ?? 0
            try rows.forEachHeld { id, row in
                assert(!isFirstKeyOnly || id.savedKey == next, "The keys must be consecutive.")
                next &+= 1
                if bound == 0 || !isFirstKeyOnly {
                    try statement.bind(id.savedKey, at: place)
                    place += 1
                }
                try bind(row, to: statement, at: place)
                if row.version > 1 { reinserted.append(IdentifiedRow(id: id, row: row)) }
                place += slots.count
                bound += 1
                guard bound == count else { return }
                try statement.run()
                try entity.checkInserted(count, upTo: id, connection)
                try reporter?.step(count)
                bound = 0
                place = 1
            }
        }
    }

    /// Binds the values from `start` on, for one run of the statement.
    @inline(__always)
    private func bind(_ row: RowSnapshot, to statement: Statement, at start: Int) throws {
        for (index, slot) in slots.enumerated() {
            let place = start + index
            switch row.value(slot) {
            case .null: try statement.bindNull(at: place)
            case .integer(let number): try statement.bind(number, at: place)
            case .real(let number): try statement.bind(number, at: place)
            case .text(let text): try statement.bindForOneRun(text, at: place)
            case let value:
                let column = entity.columns[index]
                try binding.bind(value, column.coding, attribute: column.property, to: statement, at: place)
            }
        }
    }
}
