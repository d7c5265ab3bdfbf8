import SQLiteAccess

/// A cache of query plans. Each change of a list repeats a few statements.
final class KnownSortings {
    enum Sorting {
        /// SQLite reads the rows in order from an index.
        case index
        /// SQLite sorts a few rows at a time.
        case partial
        /// SQLite sorts all rows.
        case full
    }

    /// The query plan of a statement.
    struct Plan {
        var sorting = Sorting.index
        /// The number of columns that one index looks up.
        var indexedTerms = 0
        /// True if it scans a whole index and looks up the row of each entry.
        var looksRowsUp = false
    }

    /// The plans found so far, by statement text. They stay valid if an index is added or dropped later; only the time
    /// changes.
    private var known: [String: Plan] = [:]
    private static let mostKnown = 256

    func plan(of statement: SQLFragment, _ connection: Connection) throws -> Plan {
        if let plan = known[statement.text] { return plan }
        var plan = Plan()
        try connection.withStatement("EXPLAIN QUERY PLAN " + statement.text) { explained in
            try explained.bind(statement.bound)
            while try explained.step() {
                let step = explained.text(at: 3)
                if step.contains("TEMP B-TREE") {
                    plan.sorting = step.hasSuffix("B-TREE FOR ORDER BY") ? .full : .partial
                }
                if step.hasPrefix("SCAN t0 USING INDEX ") { plan.looksRowsUp = true }
                // The step is, for example, `SEARCH t0 USING INDEX i (ZA=? AND ZB>?)`.
                if step.hasPrefix("SEARCH") { plan.indexedTerms = max(plan.indexedTerms, step.count { $0 == "?" }) }
            }
        }
        if known.count >= Self.mostKnown { known = [:] }
        known[statement.text] = plan
        return plan
    }
}

/// Finds the keys of rows in order, and the runs of equal values among them.
///
/// Rows without an index in that order are sorted here, not by SQLite: see ``RowSorter``.
struct KeyQueries {
    let connection: Connection
    let context: DecodingContext
    let sortings: KnownSortings

    /// Runs the query for the keys of the matching rows.
    ///
    /// - Parameter builder: the builder of a query without rows.
    func run(_ builder: SelectBuilder) throws -> StoreQueryResult {
        let query = builder.query
        let ordered = try builder.keys(groupedBy: query.groupedBy)
        if let terms = query.indexedTerms {
            guard ordered.unsupported.isEmpty else {
                return StoreQueryResult(keys: [], rows: [], unsupported: .sort)
            }
            let plan = try sortings.plan(of: ordered.fragment, connection)
            // All conditions must be in the index. One that is tested on each row may be false for a million rows.
            guard plan.sorting == .index, plan.indexedTerms >= terms else {
                return StoreQueryResult(keys: [], rows: [], unsupported: .sort)
            }
        }
        if !query.isLimited, !query.sortKeys.isEmpty, ordered.unsupported.isEmpty,
            ordered.group == nil || query.groupedBy == query.sortKeys[0].keyPath, try sorting(of: ordered) == .full,
            let unordered = try builder.keysToSort(), let result = try sorted(unordered, ordered.group)
        {
            return result
        }
        var extra = ExtraColumns(ordered.extra, context)
        let found = try runs(of: ordered, builder) ?? inOrder(ordered, of: query.entity, &extra)
        return StoreQueryResult(
            keys: found.keys, rows: [], unsupported: ordered.unsupported, groups: found.groups, extraValues: extra.all)
    }

    /// Returns the keys and the runs of equal values, if equal values are certainly consecutive; otherwise `nil`.
    private func runs(of ordered: SelectStatement, _ builder: SelectBuilder) throws -> OrderedKeys? {
        let query = builder.query
        guard let group = ordered.group, ordered.extra == nil, ordered.unsupported.isEmpty, !query.isLimited,
            let first = query.sortKeys.first, first.keyPath == query.groupedBy, first.comparison == .plain,
            RunSearch.canRead(group.attribute), try sorting(of: ordered) == .index,
            let value = try builder.groupedValue()
        else { return nil }
        var groups = GroupReader(group, context)
        var keys: [RowKey] = []
        let isWhole = try forEachKey(ordered) { key, statement in
            keys.append(key)
            groups.append(statement)
            guard keys.count == RunSearch.sample else { return true }
            makeRoom(in: &keys, of: query.entity)
            return groups.count > RunSearch.mostOfSample
        }
        if isWhole { return (keys, groups.all) }
        // Keys and values are read in one transaction, because the keys are sorted by these values.
        return try connection.reading { try longRuns(builder, group, value) }
    }

    /// Reserves capacity for all rows of an entity, up to its greatest key. Memory is committed only when used.
    private func makeRoom(in keys: inout [RowKey], of entity: NSEntityDescription) {
        let table = SQLName.quoted(context.layout.table(of: entity))
        guard let greatest = try? connection.integer("SELECT MAX(Z_PK) FROM \(table)"), greatest < RunSearch.mostRoom
        else { return }
        keys.reserveCapacity(Int(greatest))
    }

    /// Finds few expected runs: reads the keys only, and then a few rows to find the end of each run.
    ///
    /// - Returns: `nil` if there are too many runs.
    private func longRuns(
        _ builder: SelectBuilder, _ group: SelectStatement.Group, _ value: SQLFragment
    ) throws -> OrderedKeys? {
        let keys = try keys(builder.keys(), of: builder.query.entity)
        return try connection.withStatement(value.text) { statement in
            var search = RunSearch(keys: keys, group: group, context: context, statement: statement)
            return try search.groups().map { (keys, $0) }
        }
    }

    /// Returns how SQLite sorts the rows of `select`.
    func sorting(of select: SelectStatement) throws -> KnownSortings.Sorting {
        try sortings.plan(of: select.fragment, connection).sorting
    }

    /// Returns the keys of `select` in its order.
    ///
    /// - Parameter entity: the entity of the rows.
    func keys(_ select: SelectStatement, of entity: NSEntityDescription) throws -> [RowKey] {
        var keys: [RowKey] = []
        try forEachKey(select) { key, _ in
            keys.append(key)
            if keys.count == RunSearch.sample { makeRoom(in: &keys, of: entity) }
            return true
        }
        return keys
    }

    /// Keys in order, and the runs of equal values among them.
    private typealias OrderedKeys = (keys: [RowKey], groups: [RowGroup]?)

    private func inOrder(
        _ select: SelectStatement, of entity: NSEntityDescription, _ extra: inout ExtraColumns
    ) throws -> OrderedKeys {
        guard select.group != nil || select.extra != nil else { return (try keys(select, of: entity), nil) }
        var keys: [RowKey] = []
        guard let group = select.group else {
            try forEachKey(select) { key, statement in
                keys.append(key)
                extra.append(statement)
                return true
            }
            return (keys, nil)
        }
        var groups = GroupReader(group, context)
        try forEachKey(select) { key, statement in
            keys.append(key)
            groups.append(statement)
            extra.append(statement)
            return true
        }
        return (keys, groups.all)
    }

    private func sorted(_ select: SelectStatement, _ group: SelectStatement.Group?) throws -> StoreQueryResult? {
        guard let columns = select.sortColumns else { return nil }
        let sorter = RowSorter(columns: columns.map(SortColumn.init))
        var keys: [RowKey] = []
        var extra = ExtraColumns(select.extra, context)
        let isWhole = try forEachKey(select) { key, statement in
            keys.append(key)
            extra.append(statement)
            return sorter.append(statement)
        }
        guard isWhole else { return nil }
        let order = sorter.order(keys.map(\.reference))
        var result = StoreQueryResult(keys: order.map { keys[$0] }, rows: [], unsupported: [])
        result.extraValues = extra.all?.map { column in order.map { column[$0] } }
        guard let group else { return result }
        guard let groups = Self.groups(sorter.groups(in: order), of: group.attribute) else { return nil }
        result.groups = groups
        return result
    }

    /// - Returns: `nil` if a value does not have its attribute's type.
    private static func groups(
        _ found: [(value: SQLiteValue, count: Int)], of attribute: NSAttributeDescription
    ) -> [RowGroup]? {
        guard let coding = ValueCoding(attribute) else { return nil }
        var groups: [RowGroup] = []
        for (value, count) in found {
            let decoded: SlotValue
            switch (value, coding) {
            case (.null, _): decoded = .null
            case (.integer(let number), .integer): decoded = .integer(number)
            case (.integer(let number), .real), (.integer(let number), .date): decoded = .real(Double(number))
            case (.real(let number), .real), (.real(let number), .date): decoded = .real(number)
            case (.text(let text), .text): decoded = .text(text)
            default: return nil
            }
            groups.append(RowGroup(value: decoded, count: count))
        }
        return groups
    }

    /// Calls `body` with each key and the statement at its row, until it returns false.
    ///
    /// - Returns: true if `body` never returned false.
    @inline(__always) @discardableResult
    private func forEachKey(_ select: SelectStatement, _ body: (RowKey, Statement) -> Bool) throws -> Bool {
        try connection.withStatement(select.fragment.text) { statement in
            try statement.bind(select.fragment.bound)
            if let only = select.onlyEntity {
                let index = UInt32(only.layout.index)
                while try statement.step() {
                    guard body(RowKey(entity: index, reference: statement.integer(at: 0)), statement) else {
                        return false
                    }
                }
                return true
            }
            let indexes = entityIndexes()
            while try statement.step() {
                guard let index = indexes[statement.integer(at: 1)] else { continue }
                guard body(RowKey(entity: index, reference: statement.integer(at: 0)), statement) else { return false }
            }
            return true
        }
    }

    /// Maps `Z_ENT` to the index of the entity in the model.
    private func entityIndexes() -> [Int64: UInt32] {
        let layout = context.layout
        return Dictionary(
            layout.entities.map { (layout.number(of: $0), UInt32($0.layout.index)) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension StoreQuery {
    /// True if only a part of the matching rows is wanted.
    var isLimited: Bool { limit != 0 || offset != 0 }
}

/// Collects the extra values read with keys.
private struct ExtraColumns {
    private let columns: [SelectStatement.Group]?
    private let context: DecodingContext
    private var values: [[SlotValue]]

    init(_ columns: [SelectStatement.Group]?, _ context: DecodingContext) {
        self.columns = columns
        self.context = context
        values = Array(repeating: [], count: columns?.count ?? 0)
    }

    /// Adds the statement's current row.
    @inline(__always)
    mutating func append(_ statement: Statement) {
        guard let columns else { return }
        for (place, column) in columns.enumerated() {
            values[place].append(context.value(of: column.attribute, at: column.column, of: statement))
        }
    }

    var all: [[SlotValue]]? { columns == nil ? nil : values }
}

/// Collects the runs of equal values in a column of sorted rows.
private struct GroupReader: ~Copyable {
    private let group: SelectStatement.Group
    private let context: DecodingContext
    private var run: ColumnRun
    private var done: [RowGroup] = []
    private var value = SlotValue.null
    private var length = 0

    init(_ group: SelectStatement.Group, _ context: DecodingContext) {
        self.group = group
        self.context = context
        run = ColumnRun(column: group.column)
    }

    /// Adds the statement's current row.
    mutating func append(_ statement: Statement) {
        if !run.goesOn(statement) {
            if length > 0 { done.append(RowGroup(value: value, count: length)) }
            value = context.value(of: group.attribute, at: group.column, of: statement)
            length = 0
        }
        length += 1
    }

    /// The number of runs.
    var count: Int { length == 0 ? 0 : done.count + 1 }

    var all: [RowGroup] { length == 0 ? done : done + [RowGroup(value: value, count: length)] }
}
