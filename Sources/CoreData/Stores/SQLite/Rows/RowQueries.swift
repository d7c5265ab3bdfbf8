import SQLiteAccess

// The strategy of fetches.
//
// If SQLite sorts for an ORDER BY, every column passes through its sorter; if an index gives the order, the table is
// read in random order. Measured, the fastest way to many sorted rows is to read the keys in order from the index, scan
// the table in its own order, and put each row in its position. Few rows are looked up by key instead. Without an index
// one scan reads the rows, which are then sorted here. With a limit the plain statement is as fast.

/// Performs fetches and counts.
struct RowQueries {
    let connection: Connection
    let context: DecodingContext
    let plans: RowPlans
    let sortings: KnownSortings

    private var layout: TableLayout { context.layout }

    private func builder(_ query: StoreQuery) -> SelectBuilder {
        SelectBuilder(query: query, schema: layout, storeIdentifier: context.storeIdentifier)
    }

    private var keyQueries: KeyQueries {
        KeyQueries(connection: connection, context: context, sortings: sortings)
    }

    func fetch(_ query: StoreQuery) throws -> StoreQueryResult {
        try layout.unreadable.check(query)
        let builder = self.builder(query)
        guard query.wantsRows else { return try keyQueries.run(builder) }
        if !query.isLimited, !query.sortKeys.isEmpty {
            let ordered = try builder.keys()
            if ordered.unsupported.isEmpty {
                switch try keyQueries.sorting(of: ordered) {
                case .index: return try connection.reading { try rowsByKeys(ordered, builder, query) }
                case .partial, .full: if let sorted = try sortedRows(builder) { return sorted }
                }
            }
        }
        return try rowsDirectly(builder)
    }

    func count(_ query: StoreQuery) throws -> Int? {
        try layout.unreadable.check(query)
        guard let fragment = try builder(query).count() else { return nil }
        return Int(try connection.integer(fragment.text, fragment.bound) ?? 0)
    }

    /// Returns the values of each group; `nil` if SQL would not give the same values as memory.
    func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]? {
        try layout.unreadable.check(query)
        let builder = builder(query.rows)
        guard var select = try builder.groups(query) else { return nil }
        // With an index SQLite reads the rows in the order of their groups and looks up each in the table. For long
        // tables that takes three times as long as sorting.
        if !query.groups.isEmpty, query.limit == 0, try sortings.plan(of: select.fragment, connection).looksRowsUp,
            let sorted = try builder.groups(query, byIndex: false)
        {
            select = sorted
        }
        return try connection.withStatement(select.fragment.text) { statement in
            try statement.bind(select.fragment.bound)
            var found: [[PredicateValue]] = []
            while try statement.step() {
                found.append(
                    select.columns.enumerated().map { index, column in
                        column.value(SQLValue(statement.value(at: index))) { context.id(of: $0, reference: $1) }
                    })
            }
            return found
        }
    }

    // MARK: Rows

    private func rowsDirectly(_ builder: SelectBuilder) throws -> StoreQueryResult {
        let select = try builder.rows()
        var result = StoreQueryResult(keys: [], rows: [], unsupported: select.unsupported)
        try decode(select) { key, row, _ in
            result.keys.append(key)
            result.rows.append(row)
            return true
        }
        return result
    }

    /// Reads the rows in the order of the table and sorts them here; `nil` if SQLite has to sort them.
    private func sortedRows(_ builder: SelectBuilder) throws -> StoreQueryResult? {
        guard let select = try builder.rowsToSort(), let columns = select.sortColumns else { return nil }
        let sorter = RowSorter(columns: columns.map(SortColumn.init))
        var keys: [RowKey] = []
        var rows: [RowSnapshot?] = []
        let isWhole = try decode(select) { key, row, statement in
            keys.append(key)
            rows.append(row)
            return sorter.append(statement)
        }
        guard isWhole else { return nil }
        let order = sorter.order(keys.map(\.reference))
        return StoreQueryResult(
            keys: order.map { keys[$0] }, rows: RowList(taking: order, outOf: &rows), unsupported: [])
    }

    /// Calls `body` with each row and the statement at it, until it returns false.
    ///
    /// - Returns: true if `body` never returned false.
    @discardableResult
    private func decode(
        _ select: SelectStatement, _ body: (RowKey, consuming RowSnapshot, Statement) -> Bool
    ) throws -> Bool {
        guard let columns = select.columns else { return true }
        let decoder = RowDecoder(columns: columns, context: context)
        return try connection.withStatement(select.fragment.text) { statement in
            try statement.bind(select.fragment.bound)
            while try statement.step() {
                guard let (key, row) = decoder.row(of: statement) else { continue }
                guard body(key, row, statement) else { return false }
            }
            return true
        }
    }

    /// Reads the keys in order, then the rows: in one scan, or by key if they are few.
    private func rowsByKeys(
        _ ordered: SelectStatement, _ builder: SelectBuilder, _ query: StoreQuery
    ) throws -> StoreQueryResult {
        let keys = try keyQueries.keys(ordered, of: query.entity)
        var found = RowsByKey(keys)
        let plan = RowPlan(entity: query.entity, includingSubentities: query.includesSubentities, context: context)
        if try RowLookup.isScanBetter(for: keys.count, table: plan.table, connection) {
            try decode(try builder.rows(isOrdered: false)) { key, row, _ in
                found.put(row, for: key.reference)
                return true
            }
        } else {
            let lookup = RowLookup(connection: connection, context: context, plans: plans)
            try lookup.read(keys.map(\.reference), plan) { key, row in found.put(row, for: key.reference) }
        }
        return found.taken(in: keys)
    }
}

/// Rows by key. An array if the keys are dense, as they usually are, because a dictionary of a million rows takes
/// longer than reading them.
///
/// Rows are moved in and out without retaining them. They are in memory in the order of the table, and retaining each
/// in another order would take as long as decoding them.
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

    mutating func put(_ row: consuming RowSnapshot, for key: Int64) {
        if dense.isEmpty {
            sparse[key] = row
        } else if let place = place(of: key) {
            dense[place] = row
        }
    }

    /// Moves out the rows of `keys` that exist, in their order.
    mutating func taken(in keys: [RowKey]) -> StoreQueryResult {
        if dense.isEmpty {
            let found = keys.filter { sparse[$0.reference] != nil }
            return StoreQueryResult(
                keys: found, rows: RowList(found.compactMap { sparse[$0.reference] }), unsupported: [])
        }
        var found: [RowKey] = []
        found.reserveCapacity(keys.count)
        let places = keys.lazy.map { [first] in Int($0.reference - first) }
        let rows = RowList(taking: places, outOf: &dense) { found.append(keys[$0]) }
        return StoreQueryResult(keys: found, rows: rows, unsupported: [])
    }
}
