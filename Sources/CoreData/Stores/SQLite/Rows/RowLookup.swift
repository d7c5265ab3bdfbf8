import SQLiteAccess

/// Reads rows by key, many at a time.
struct RowLookup {
    let connection: Connection
    let context: DecodingContext
    let plans: RowPlans

    /// The maximum number of keys per statement. Smaller batches are padded to a power of two to reuse statements.
    private static let batchSize = 512
    /// The inverse of the fraction of a table above which a scan is faster than lookups.
    private static let scanFraction: Int64 = 6
    /// Maximum number of keys that are always looked up; a scan is considered for more.
    private static let smallCount = 256

    private var layout: TableLayout { context.layout }

    /// Returns true if reading the whole table (its quoted name) is faster than looking up `count` of its rows.
    static func isScanBetter(for count: Int, table: String, _ connection: Connection) throws -> Bool {
        guard count > smallCount else { return false }
        let greatest = try connection.integer("SELECT MAX(Z_PK) FROM \(table)") ?? 0
        return Int64(count) > greatest / scanFraction
    }

    /// Returns the rows of `ids` in the same order; `nil` for a row that does not exist or has another entity.
    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        guard let first = ids.first else { return [] }
        if ids.allSatisfy({ $0.family === first.family || $0.entity === first.entity }) {
            // A few rows are read by one statement, which needs no transaction to read one state.
            if ids.count <= Self.smallCount { return try rows(of: first.entity, ids) }
            return try connection.reading { try rows(of: first.entity, ids) }
        }
        return try connection.reading {
            var result: [RowSnapshot?] = Array(repeating: nil, count: ids.count)
            for (_, group) in Dictionary(grouping: ids.indices, by: { ObjectIdentifier(ids[$0].entity) }) {
                let rows = try rows(of: ids[group[0]].entity, group.map { ids[$0] })
                for (place, row) in zip(group, rows) { result[place] = row }
            }
            return result
        }
    }

    private func rows(of entity: NSEntityDescription, _ ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        var result: [RowSnapshot?] = Array(repeating: nil, count: ids.count)
        guard layout.contains(entity) else { return result }
        let plan = plans[entity]
        var wanted = WantedKeys(ids)
        let keys = wanted.keys
        func collect(_ key: RowKey, _ row: RowSnapshot) {
            wanted.forEachPlace(of: key.reference) { result[$0] = row }
        }
        if try Self.isScanBetter(for: keys.count, table: plan.table, connection) {
            try scan(plan, collect)
        } else {
            try read(keys, plan, isOnlyEntity: true, collect)
        }
        return result
    }

    /// Reads the rows of `keys` in any order.
    ///
    /// - Parameter isOnlyEntity: true to skip rows of other entities in the table.
    func read(
        _ keys: [Int64], _ plan: RowPlan, isOnlyEntity: Bool = false, _ body: (RowKey, RowSnapshot) -> Void
    ) throws {
        try Self.forEachBatch(of: keys) { batch, places in
            let text = plan.texts.select(places, isOnlyEntity: isOnlyEntity)
            try connection.withStatement(text) { statement in
                for place in 0..<places { try statement.bind(batch[min(place, batch.count - 1)], at: place + 1) }
                while try statement.step() {
                    if let (key, row) = plan.decoder.row(of: statement) { body(key, row) }
                }
            }
        }
    }

    private func scan(_ plan: RowPlan, _ body: (RowKey, RowSnapshot) -> Void) throws {
        try connection.withStatement("\(plan.select) WHERE Z_ENT = \(layout.number(of: plan.entity))") { statement in
            while try statement.step() {
                if let (key, row) = plan.decoder.row(of: statement) { body(key, row) }
            }
        }
    }

    /// Splits `keys` into batches. `places` is the statement's number of parameters, at least that of the batch.
    static func forEachBatch(of keys: [Int64], _ body: (_ batch: [Int64], _ places: Int) throws -> Void) rethrows {
        for start in stride(from: 0, to: keys.count, by: batchSize) {
            let batch = keys.count <= batchSize ? keys : Array(keys[start..<min(start + batchSize, keys.count)])
            var places = 1
            while places < batch.count { places *= 2 }
            try body(batch, places)
        }
    }

    static func placeholders(_ count: Int) -> String {
        String(repeating: "?,", count: count - 1) + "?"
    }
}
