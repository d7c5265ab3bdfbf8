import Foundation
import SQLiteAccess

/// Writes the changes of one transaction of the history with consecutive numbers.
struct HistoryChangeWriter {
    let connection: Connection
    let layout: TableLayout
    let columns: HistoryColumnsCache
    let transaction: Int64
    /// The number of the next change.
    private(set) var next: Int64
    private let reporter: SaveReporter?
    /// The entity of the last change, and its number in the store.
    private var last: (entity: NSEntityDescription, number: Int64)?
    /// The bitmap of the last update.
    private var lastBitmap: (entity: NSEntityDescription, slots: [Int], bitmap: Data)?

    /// See ``RowStatements/rowsAtOnce``.
    private static let rowsAtOnce = 32
    private static let manyRows = 256
    private static let placesOfRow = 6
    private static let placeOfColumns = 5

    init(
        connection: Connection, layout: TableLayout, columns: HistoryColumnsCache, transaction: Int64, next: Int64,
        reporter: SaveReporter? = nil
    ) {
        self.connection = connection
        self.layout = layout
        self.columns = columns
        self.transaction = transaction
        self.next = next
        self.reporter = reporter
    }

    /// Writes insertions of rows.
    mutating func writeInsertions(_ rows: [IdentifiedRow]) throws {
        try write(rows) { writer, row, statement, place in
            try writer.bind(.insert, row.id, to: statement, at: place)
            try statement.bindNull(at: place + Self.placeOfColumns)
        }
    }

    /// Writes changes of existing rows.
    mutating func write(_ kind: StoreTransaction.Kind, _ rows: [StoreRowChange]) throws {
        try write(rows) { writer, row, statement, place in
            try writer.bind(kind, row.id, to: statement, at: place)
            if kind == .update {
                try statement.bind(writer.bitmap(of: row, row.id.entity), at: place + Self.placeOfColumns)
            } else {
                try statement.bindNull(at: place + Self.placeOfColumns)
            }
        }
    }

    private typealias Binding<Row> = (inout HistoryChangeWriter, Row, Statement, _ place: Int) throws -> Void

    private mutating func write<Row>(_ rows: [Row], _ bind: Binding<Row>) throws {
        var rest = rows[...]
        if rows.count >= Self.manyRows {
            try write(rest.prefix(rows.count / Self.rowsAtOnce * Self.rowsAtOnce), atOnce: Self.rowsAtOnce, bind)
            rest = rest.suffix(rows.count % Self.rowsAtOnce)
        }
        if !rest.isEmpty { try write(rest, atOnce: 1, bind) }
    }

    /// - Parameter rows: their number must be a multiple of `count`.
    private mutating func write<Row>(_ rows: ArraySlice<Row>, atOnce count: Int, _ bind: Binding<Row>) throws {
        try connection.withStatement(text(rows: count)) { statement in
            var place = 1
            for row in rows {
                try bind(&self, row, statement, place)
                place += Self.placesOfRow
                guard place > count * Self.placesOfRow else { continue }
                try statement.run()
                try reporter?.step(count)
                place = 1
            }
        }
    }

    private func text(rows: Int) -> String {
        let row = "(?, \(HistoryTables.change), ?, ?, ?, ?, ?)"
        // See ``RowStatements/appendManyText``.
        return "INSERT OR FAIL INTO ACHANGE "
            + "(Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) VALUES "
            + repeatElement(row, count: rows).joined(separator: ", ")
    }

    private mutating func bind(
        _ kind: StoreTransaction.Kind, _ id: NSManagedObjectID, to statement: Statement, at place: Int
    ) throws {
        let entity = id.entity
        if last?.entity !== entity { last = (entity, layout.number(of: entity)) }
        try statement.bind(next, at: place)
        try statement.bind(Int64(kind.rawValue), at: place + 1)
        try statement.bind(last?.number ?? 0, at: place + 2)
        try statement.bind(id.rowKey?.reference ?? 0, at: place + 3)
        try statement.bind(transaction, at: place + 4)
        next += 1
    }

    /// Caches the last bitmap, because objects that change together usually change the same properties.
    private mutating func bitmap(of row: StoreRowChange, _ entity: NSEntityDescription) -> Data {
        guard row.orderedPositions.isEmpty, row.changedToMany.isEmpty else {
            return columns[entity].bitmap(of: row, layout: entity.layout)
        }
        if let known = lastBitmap, known.entity === entity, known.slots == row.changedSlots { return known.bitmap }
        let made = columns[entity].bitmap(of: row, layout: entity.layout)
        lastBitmap = (entity, row.changedSlots, made)
        return made
    }
}
