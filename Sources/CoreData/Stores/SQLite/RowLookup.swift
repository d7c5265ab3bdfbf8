import SQLiteAccess

/// Reads rows by their keys, many at a time.
struct RowLookup {
    let connection: Connection
    let context: DecodingContext

    /// How many keys one statement takes. Shorter lists are filled up to a power of two, so that few statements are needed.
    private static let batchSize = 512
    /// Beyond this part of a table one scan beats look-ups.
    private static let scanFraction: Int64 = 6
    /// Below this many keys it is not worth a thought.
    private static let smallCount = 256

    private var layout: TableLayout { context.layout }

    /// Whether reading the whole table is quicker than looking `count` of its rows up.
    static func isScanBetter(for count: Int, table: String, _ connection: Connection) throws -> Bool {
        guard count > smallCount else { return false }
        let greatest = try connection.integer("SELECT MAX(Z_PK) FROM \(SQLName.quoted(table))") ?? 0
        return Int64(count) > greatest / scanFraction
    }

    /// The rows of `ids`; a row that does not exist, or is of another entity, is missing.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        if ids.count == 1 { return try rows(of: ids[0].entity, ids) }
        return try connection.reading {
            var result: [NSManagedObjectID: RowSnapshot] = [:]
            result.reserveCapacity(ids.count)
            for (_, group) in Dictionary(grouping: ids, by: { ObjectIdentifier($0.entity) }) {
                result.merge(try rows(of: group[0].entity, group), uniquingKeysWith: { first, _ in first })
            }
            return result
        }
    }

    private func rows(
        of entity: NSEntityDescription, _ ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: RowSnapshot] {
        guard layout.contains(entity) else { return [:] }
        let columns = RowColumns(entity: entity, includingSubentities: false, schema: layout)
        let table = layout.table(of: entity)
        var wanted: [Int64: NSManagedObjectID] = [:]
        wanted.reserveCapacity(ids.count)
        for id in ids {
            if let key = id.rowKey { wanted[key.reference] = id }
        }
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        result.reserveCapacity(ids.count)
        let collect: (RowKey, RowSnapshot) -> Void = { key, row in
            if let id = wanted[key.reference] { result[id] = row }
        }
        if try Self.isScanBetter(for: wanted.count, table: table, connection) {
            try scan(columns: columns, table: table, entity: layout.number(of: entity), collect)
        } else {
            try read(wanted.keys.sorted(), columns: columns, table: table, entity: layout.number(of: entity), collect)
        }
        return result
    }

    /// Reads the rows of `keys`, in any order.
    ///
    /// - Parameter entity: the `Z_ENT` that the rows must have; `nil` where any will do.
    func read(
        _ keys: [Int64], columns: RowColumns, table: String, entity: Int64? = nil,
        _ body: (RowKey, RowSnapshot) -> Void
    ) throws {
        let decoder = RowDecoder(columns: columns, context: context)
        let condition = entity.map { " AND Z_ENT = \($0)" } ?? ""
        let select = "SELECT \(columns.selectList(alias: "t0")) FROM \(SQLName.quoted(table)) AS t0 WHERE Z_PK "
        try Self.forEachBatch(of: keys) { batch, places in
            let list = places == 1 ? "= ?" : "IN (\(Self.placeholders(places)))"
            try connection.withStatement(select + list + condition) { statement in
                for place in 0..<places { try statement.bind(batch[min(place, batch.count - 1)], at: place + 1) }
                while try statement.step() {
                    if let (key, row) = decoder.row(of: statement) { body(key, row) }
                }
            }
        }
    }

    private func scan(
        columns: RowColumns, table: String, entity: Int64, _ body: (RowKey, RowSnapshot) -> Void
    ) throws {
        let decoder = RowDecoder(columns: columns, context: context)
        let sql =
            "SELECT \(columns.selectList(alias: "t0")) FROM \(SQLName.quoted(table)) AS t0 WHERE Z_ENT = \(entity)"
        try connection.withStatement(sql) { statement in
            while try statement.step() {
                if let (key, row) = decoder.row(of: statement) { body(key, row) }
            }
        }
    }

    /// Cuts `keys` into batches and says for how many places each statement shall be written: at least as many.
    static func forEachBatch(of keys: [Int64], _ body: (_ batch: [Int64], _ places: Int) throws -> Void) rethrows {
        for start in stride(from: 0, to: keys.count, by: batchSize) {
            let batch = Array(keys[start..<min(start + batchSize, keys.count)])
            var places = 1
            while places < batch.count { places *= 2 }
            try body(batch, places)
        }
    }

    static func placeholders(_ count: Int) -> String {
        String(repeating: "?,", count: count - 1) + "?"
    }
}
