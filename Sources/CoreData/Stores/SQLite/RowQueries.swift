import SQLiteAccess

// How a fetch is carried out.
//
// An ORDER BY that SQLite has to sort for drags every column through its sorter, and one that an index answers visits
// the table in random order. Measured, the quickest way to many sorted rows is: the keys in order through the index, one
// scan of the table in its own order, and each row put in its place. Few rows are fetched by their keys instead, and
// without an index, or with a limit, the plain statement is as good as any.

/// Carries out fetches, counts and grouped counts.
struct RowQueries {
    let connection: Connection
    let context: DecodingContext
    let plans: RowPlans

    private var layout: TableLayout { context.layout }

    private func builder(_ query: StoreQuery) -> SelectBuilder {
        SelectBuilder(query: query, schema: layout, storeIdentifier: context.storeIdentifier)
    }

    func fetch(_ query: StoreQuery) throws -> StoreQueryResult {
        let builder = self.builder(query)
        guard query.wantsRows else {
            let statement = try builder.keys()
            return StoreQueryResult(keys: try keys(statement), rows: [], undone: statement.undone)
        }
        if query.limit == 0, query.offset == 0, !query.sortKeys.isEmpty {
            let ordered = try builder.keys()
            if ordered.undone.isEmpty, try isOrderedByIndex(ordered) {
                return try connection.reading { try rowsByKeys(ordered, builder, query) }
            }
        }
        return try rowsDirectly(builder)
    }

    func count(_ query: StoreQuery) throws -> Int? {
        guard let fragment = try builder(query).count() else { return nil }
        return Int(try connection.integer(fragment.text, fragment.arguments) ?? 0)
    }

    func groupCounts(_ query: StoreQuery, groupedBy keyPath: [String]) throws -> [(value: SlotValue, count: Int)]? {
        guard let grouped = try builder(query).groupCounts(by: keyPath) else { return nil }
        return try connection.withStatement(grouped.fragment.text) { statement in
            try statement.bind(grouped.fragment.arguments)
            var groups: [(value: SlotValue, count: Int)] = []
            while try statement.step() {
                let value = context.value(of: grouped.attribute, at: 0, of: statement)
                groups.append((value, Int(statement.integer(at: 1))))
            }
            return groups
        }
    }

    // MARK: Keys

    private func keys(_ select: SelectStatement) throws -> [RowKey] {
        try connection.withStatement(select.fragment.text) { statement in
            try statement.bind(select.fragment.arguments)
            var keys: [RowKey] = []
            if let only = select.onlyEntity {
                let index = UInt32(only.layout.index)
                while try statement.step() { keys.append(RowKey(entity: index, reference: statement.integer(at: 0))) }
                return keys
            }
            let indexes = entityIndexes()
            while try statement.step() {
                guard let index = indexes[statement.integer(at: 1)] else { continue }
                keys.append(RowKey(entity: index, reference: statement.integer(at: 0)))
            }
            return keys
        }
    }

    /// `Z_ENT` → place of the entity in the model.
    private func entityIndexes() -> [Int64: UInt32] {
        Dictionary(
            layout.entities.map { (layout.number(of: $0), UInt32($0.layout.index)) },
            uniquingKeysWith: { first, _ in first })
    }

    // MARK: Rows

    private func rowsDirectly(_ builder: SelectBuilder) throws -> StoreQueryResult {
        let select = try builder.rows()
        var result = StoreQueryResult(keys: [], rows: [], undone: select.undone)
        try decode(select) { key, row in
            result.keys.append(key)
            result.rows.append(row)
        }
        return result
    }

    private func decode(_ select: SelectStatement, _ body: (RowKey, RowSnapshot) -> Void) throws {
        guard let columns = select.columns else { return }
        let decoder = RowDecoder(columns: columns, context: context)
        try connection.withStatement(select.fragment.text) { statement in
            try statement.bind(select.fragment.arguments)
            while try statement.step() {
                if let (key, row) = decoder.row(of: statement) { body(key, row) }
            }
        }
    }

    /// The keys in order, then the rows: all in one scan, or the few of them by their keys.
    private func rowsByKeys(
        _ ordered: SelectStatement, _ builder: SelectBuilder, _ query: StoreQuery
    ) throws -> StoreQueryResult {
        let keys = try keys(ordered)
        var found = RowsByKey(keys)
        let plan = RowPlan(entity: query.entity, includingSubentities: query.includesSubentities, context: context)
        if try RowLookup.isScanBetter(for: keys.count, table: plan.table, connection) {
            try decode(try builder.rows(isOrdered: false)) { key, row in found[key.reference] = row }
        } else {
            let lookup = RowLookup(connection: connection, context: context, plans: plans)
            try lookup.read(keys.map(\.reference), plan) { key, row in found[key.reference] = row }
        }
        var result = StoreQueryResult(keys: [], rows: [], undone: [])
        result.keys.reserveCapacity(keys.count)
        result.rows.reserveCapacity(keys.count)
        for key in keys {
            guard let row = found[key.reference] else { continue }
            result.keys.append(key)
            result.rows.append(row)
        }
        return result
    }

    /// Whether SQLite reads the rows in order without sorting them.
    private func isOrderedByIndex(_ select: SelectStatement) throws -> Bool {
        try connection.withStatement("EXPLAIN QUERY PLAN " + select.fragment.text) { statement in
            try statement.bind(select.fragment.arguments)
            while try statement.step() {
                if statement.text(at: 3).contains("TEMP B-TREE") { return false }
            }
            return true
        }
    }
}

/// Rows by their numbers: in an array where these lie close together, as they mostly do, because a dictionary of a million
/// rows takes longer than reading them.
private struct RowsByKey {
    private let first: Int64
    private var dense: [RowSnapshot?] = []
    private var sparse: [Int64: RowSnapshot] = [:]

    init(_ keys: [RowKey]) {
        first = keys.lazy.map(\.reference).min() ?? 0
        let last = keys.lazy.map(\.reference).max() ?? 0
        if let range = Int(exactly: last.subtractingReportingOverflow(first).partialValue), range >= 0,
            range / 4 <= keys.count
        {
            dense = Array(repeating: nil, count: range + 1)
        } else {
            sparse.reserveCapacity(keys.count)
        }
    }

    private func place(of key: Int64) -> Int? {
        let (place, isTooFar) = key.subtractingReportingOverflow(first)
        return isTooFar || place < 0 || place >= dense.count ? nil : Int(place)
    }

    subscript(key: Int64) -> RowSnapshot? {
        get { dense.isEmpty ? sparse[key] : place(of: key).flatMap { dense[$0] } }
        set {
            if dense.isEmpty {
                sparse[key] = newValue
            } else if let place = place(of: key) {
                dense[place] = newValue
            }
        }
    }
}
