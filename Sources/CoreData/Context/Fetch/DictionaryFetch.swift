import Foundation
import PredicateSyntax

/// A fetch of dictionaries: values of rows or of groups of rows, read from the stores. Ignores unsaved changes.
struct DictionaryFetch {
    private let pipeline: FetchPipeline
    private var plan: FetchPlan
    private var check: () throws -> Void = {}
    private let columns: [DictionaryColumn]
    /// The keys that all dictionaries share.
    private let keys: [NSString]
    private let isDistinct: Bool
    /// The groups over which aggregates are computed; `nil` if there is one dictionary per row.
    private let groups: DictionaryGroups?
    /// True if sorted by computed values, which stores cannot sort by.
    private let isSortedByName: Bool
    private let sortDescriptors: [NSSortDescriptor]

    /// - Throws: 134060 for a property that does not exist, is to-many or is not stored, and for invalid grouping.
    init(_ request: NSFetchRequest<NSFetchRequestResult>, in pipeline: FetchPipeline) throws {
        self.pipeline = pipeline
        plan = try pipeline.plan(request)
        let entity = plan.entity
        let chosen = request.propertiesToFetch.flatMap { $0.isEmpty ? nil : $0 }
        var columns =
            try chosen?.map { try DictionaryColumn($0, of: entity) }
            ?? entity.layout.slots.filter { !$0.isTransient }.map { DictionaryColumn(slotNamed: $0.name, of: entity) }
        let groupColumns = try (request.propertiesToGroupBy ?? []).map { try DictionaryColumn($0, of: entity) }
        if !groupColumns.isEmpty { columns = columns.map(\.inGroups) }
        self.columns = columns
        keys = columns.map { $0.name as NSString }
        isDistinct = request.returnsDistinctResults && chosen != nil
        sortDescriptors = request.sortDescriptors ?? []
        if groupColumns.isEmpty && !columns.contains(where: { AggregateCalls.isIn($0.tree) }) {
            groups = nil
        } else {
            groups = try DictionaryGroups(columns: columns, groupColumns: groupColumns, request, entity: entity)
        }
        isSortedByName =
            groups == nil
            && sortDescriptors.contains { [columns] descriptor in
                columns.contains { $0.isNamed && $0.keyPath == nil && [$0.name] == descriptor.storeSortKey.keyPath }
            }
    }

    /// True if there are as many dictionaries as rows.
    var isOnePerRow: Bool { groups == nil && !isDistinct }

    /// The dictionaries, in order, without entries for values that are not set. One query per store and relationship.
    func run() throws -> [NSDictionary] { try pipeline.reading { try rowsOrGroups() } }

    /// The dictionaries, in order, read from `stores` on any thread. `stores` show the rows of the plan's stores and
    /// need no lock.
    ///
    /// - Parameter check: called from time to time; throws to end the fetch.
    func run(in stores: [any RowStore], check: @escaping () throws -> Void) throws -> [NSDictionary] {
        var fetch = self
        fetch.check = check
        fetch.plan = plan.limited(to: stores)
        return try fetch.rowsOrGroups()
    }

    private func rowsOrGroups() throws -> [NSDictionary] {
        for store in plan.stores { try check(store.operations.unreadable) }
        var made = try groups == nil ? ofRows() : ofGroups()
        guard isDistinct else { return made }
        var seen: Set<NSDictionary> = []
        made.removeAll { !seen.insert($0).inserted }
        return plan.cut(made)
    }

    /// - Throws: 134020 for expressions of properties that a store cannot read. Alone, such a property is not set.
    private func check(_ unreadable: UnreadableProperties) throws {
        guard !unreadable.isEmpty else { return }
        if let groups { try unreadable.check(groups.query(over: plan.query)) }
        for column in columns where column.keyPath == nil { try unreadable.check(column.tree, of: plan.entity) }
    }

    // MARK: Dictionaries of rows

    private func ofRows() throws -> [NSDictionary] {
        if isSortedByName { return try sortedByName() }
        let plan = isDistinct ? plan.unlimited : plan
        let computed = try computed()
        return try withRows(of: plan) { rows in rows.map { dictionary(of: $0, computed) } }
    }

    /// The compiled expressions of computed columns; `nil` for the others.
    private func computed() throws -> [CompiledExpression?] {
        var compiler = PredicateCompiler(entity: plan.entity)
        return try columns.map { $0.keyPath == nil ? try compiler.expression($0.tree) : nil }
    }

    /// Sorts by computed values: each row is its own group.
    private func sortedByName() throws -> [NSDictionary] {
        var query = StoreGroupQuery(rows: plan.unlimited.unsorted.query, columns: [.evaluatedObject])
        query.groups = [.evaluatedObject]
        query.sortKeys = try DictionaryGroups.sortKeys(sortDescriptors, columns: columns, entity: plan.entity)
        if !isDistinct { (query.limit, query.offset) = (plan.limit, plan.offset) }
        let computed = try computed()
        return try withRows(of: plan.unlimited.unsorted) { rows in
            try GroupEvaluation(query).run(rows).compactMap { values in
                guard case .object(let row as FetchedRow) = values[0] else { return nil }
                return dictionary(of: row, computed)
            }
        }
    }

    /// Calls `body` with the rows that the stores find.
    private func withRows<Result>(of plan: FetchPlan, _ body: ([FetchedRow]) throws -> Result) throws -> Result {
        let found = try StoreFetch(plan: plan, check: check).run(plan.query)
        var rows = [FetchedRow?](repeating: nil, count: found.count)
        var sets: [RowSet] = []
        for place in found.stores.indices {
            let members = found.keys.indices.filter { found.owners.isEmpty || Int(found.owners[$0]) == place }
            let set = RowSet(members.map { (found.id(at: $0), found.rows[$0]) }, in: found.stores[place])
            for (index, row) in zip(members, set.rows) { rows[index] = row }
            sets.append(set)
        }
        return try withExtendedLifetime(sets) {
            let result = try body(rows.compactMap { $0 })
            for set in sets { if let failure = set.failure { throw failure } }
            return result
        }
    }

    private func dictionary(of row: FetchedRow, _ computed: [CompiledExpression?]) -> NSDictionary {
        let dictionary = NSMutableDictionary(capacity: columns.count)
        for ((column, key), expression) in zip(zip(columns, keys), computed) {
            var result: Any?
            if let expression {
                result = column.result(expression.evaluate(EvaluationFrame(subject: .object(row))))
            } else if let keyPath = column.keyPath {
                result = value(at: keyPath, of: row)
            }
            if let result { dictionary[key] = result }
        }
        return dictionary
    }

    private func value(at keyPath: [String], of row: FetchedRow) -> Any? {
        var current = row
        for (index, key) in keyPath.enumerated() {
            switch current.rowLayout.place(of: key) {
            case .attribute:
                return KeyPathReader.value(of: current.value(forKey: key), at: keyPath[(index + 1)...])
            case .toOne(let slot):
                guard index < keyPath.count - 1 else {
                    guard case .reference(let id) = current.slotValue(slot) else { return nil }
                    return id
                }
                guard let next = current.toOneDestination(slot) as? FetchedRow else { return nil }
                current = next
            default: return nil
            }
        }
        return current.objectID
    }

    // MARK: Dictionaries of groups

    private func ofGroups() throws -> [NSDictionary] {
        guard let groups else { return [] }
        var query = groups.query(over: plan.unlimited.unsorted.query)
        if !isDistinct { (query.limit, query.offset) = (plan.limit, plan.offset) }
        if !groups.looksAtOneRow, plan.stores.count == 1, let found = try plan.stores[0].operations.groups(query) {
            return found.map(dictionary)
        }
        return try withRows(of: plan.unlimited.unsorted) { rows in
            try GroupEvaluation(query).run(rows).map(dictionary)
        }
    }

    private func dictionary(of values: [PredicateValue]) -> NSDictionary {
        let dictionary = NSMutableDictionary(capacity: columns.count)
        for ((column, key), value) in zip(zip(columns, keys), values) {
            if let result = column.result(value) { dictionary[key] = result }
        }
        return dictionary
    }
}
