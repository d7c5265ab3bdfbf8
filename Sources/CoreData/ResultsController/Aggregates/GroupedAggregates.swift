import Foundation
import PredicateSyntax

/// The aggregates of a list's sections by one GROUP BY of its store, without reading values of single rows.
///
/// Used only if SQL gives the same results as the rows' values: for whole numbers, Booleans, dates, least and greatest
/// real numbers and texts, and counts. Sums of decimals and of real numbers, and sections that are not determined by
/// values of the rows, are computed from the rows.
struct GroupedAggregates {
    private let definition: ListDefinition
    private let plan: AggregatePlan
    private let paths: [[String]]
    private var columns: [ExpressionTree] = []
    /// The columns of each key's aggregates, in the order of the plan's keys.
    private var places: [Places] = []

    /// The columns that hold the parts of an attribute's aggregates.
    private struct Places {
        var count = 0
        /// The sum. If ``high`` is set: of the values modulo 2³²; ``high`` is the sum of the rest in units of 2³².
        var low: Int?
        var high: Int?
        var least: Int?
        var greatest: Int?
        /// True if SQL would count empty texts, which do not count as values.
        var isText = false
    }

    /// - Returns: `nil` if the rows have to be read.
    /// - Throws: 134060 for a key path that cannot be resolved.
    init?(_ definition: ListDefinition, _ plan: AggregatePlan) throws {
        guard let paths = Self.paths(definition) else { return nil }
        self.definition = definition
        self.plan = plan
        self.paths = paths
        columns = try paths.map(tree) + [.function("count:", [.evaluatedObject])]
        for (place, key) in plan.keys.enumerated() {
            guard try add(key, plan.functions[place]) else { return nil }
        }
    }

    /// The key paths whose values determine the sections; `nil` if something else does.
    private static func paths(_ definition: ListDefinition) -> [[String]]? {
        if let rule = definition.rule { return rule.isStored && rule.isByValues ? rule.paths : nil }
        guard let key = definition.sectionKey else { return [] }
        return key.isStored ? [key.keys] : nil
    }

    private func tree(_ keys: [String]) throws -> ExpressionTree {
        try PredicateResolver(entity: definition.plan.entity).resolve(ExpressionTree.keyPath(keys))
    }

    /// Adds the SQL aggregates of a key.
    ///
    /// - Returns: True if SQL can compute the key's aggregates.
    private mutating func add(_ key: SectionKey, _ functions: Set<SectionAggregate.Function>) throws -> Bool {
        let argument = try tree(key.keys)
        func wants(_ function: SectionAggregate.Function) -> Bool { functions.contains(function) }
        let isSummed = wants(.sum) || wants(.average)
        var added = Places()
        added.isText = key.attributeType == .stringAttributeType || key.attributeType == .URIAttributeType
        switch key.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType: break
        case .decimalAttributeType where isSummed || wants(.minimum) || wants(.maximum): return false
        case .doubleAttributeType where isSummed, .floatAttributeType where isSummed: return false
        default: break
        }
        added.count = column("count:", argument)
        if isSummed, key.attributeType == .integer64AttributeType {
            added.high = column(StoreGroupQuery.highSum, argument)
            added.low = column(StoreGroupQuery.lowSum, argument)
        } else if isSummed {
            added.low = column("sum:", argument)
        }
        if wants(.minimum) || added.isText { added.least = column("min:", argument) }
        if wants(.maximum) { added.greatest = column("max:", argument) }
        places.append(added)
        return true
    }

    private mutating func column(_ function: String, _ argument: ExpressionTree) -> Int {
        columns.append(.function(function, [argument]))
        return columns.count - 1
    }

    // MARK: Query

    /// Computes the aggregates in the store. Called under the coordinator's lock.
    ///
    /// - Returns: `nil` if the store cannot group, or has other rows than `contents`.
    func results(of contents: ListContents, in store: any RowStore) throws -> AggregateResults? {
        let query = StoreGroupQuery(
            rows: definition.plan.unlimited.unsorted.query, columns: columns,
            groups: Array(columns.prefix(paths.count)))
        guard let found = try store.operations.groups(query) else { return nil }
        var rows: [UInt32: Int] = [:]
        var sections: [UInt32: [Accumulator]] = [:]
        for values in found {
            guard let number = number(of: values), case .integer(let count) = values[paths.count],
                let accumulators = accumulators(values)
            else { return nil }
            if count == 0 { continue }
            rows[number, default: 0] += Int(count)
            guard var known = sections[number] else {
                sections[number] = accumulators
                continue
            }
            for place in known.indices { known[place].add(accumulators[place]) }
            sections[number] = known
        }
        let shown = contents.allSections.filter { $0.rowCount > 0 }
        guard shown.count == rows.count, shown.allSatisfy({ rows[$0.number] == $0.weight }) else { return nil }
        return AggregateResults(plan, sections: sections)
    }

    /// The number of the section of rows that have these values.
    private func number(of values: [PredicateValue]) -> UInt32? {
        var slots: [SlotValue] = []
        for value in values.prefix(paths.count) {
            guard let slot = Self.slotValue(value) else { return nil }
            slots.append(slot)
        }
        if definition.rule != nil { return definition.names.number(of: slots) }
        guard let key = definition.sectionKey, let slot = slots.first else { return 0 }
        return definition.names.number(of: key.name(for: slot))
    }

    private static func slotValue(_ value: PredicateValue) -> SlotValue? {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number), .date(let number): number.isNaN ? nil : .real(number)
        case .text(let text): .text(text)
        case .uuid(let id): .uuid(id)
        default: nil
        }
    }

    private func accumulators(_ values: [PredicateValue]) -> [Accumulator]? {
        var found: [Accumulator] = []
        for (key, places) in zip(plan.keys, places) {
            guard case .integer(let count) = values[places.count],
                let sum = Self.sum(values, places), let least = value(values, places.least, key),
                let greatest = value(values, places.greatest, key)
            else { return nil }
            // One of the texts is empty, so the least text is unknown.
            if places.isText, count > 0, least == .missing { return nil }
            found.append(Accumulator(count: Int(count), sum: sum, least: least, greatest: greatest))
        }
        return found
    }

    private static func sum(_ values: [PredicateValue], _ places: Places) -> Int128? {
        guard let low = places.low else { return 0 }
        guard case .integer(let rest) = values[low] else { return nil }
        guard let high = places.high else { return Int128(rest) }
        guard case .integer(let units) = values[high] else { return nil }
        return Int128(units) << 32 + Int128(rest)
    }

    private func value(_ values: [PredicateValue], _ place: Int?, _ key: SectionKey) -> SectionValue? {
        guard let place else { return .missing }
        return Self.slotValue(values[place]).map(key.typed)
    }
}

extension ResultsLoader {
    /// Maximum number of rows that are read rather than grouped by SQL, which takes as long.
    @TaskLocal static var fewRows = 1_000

    /// The aggregates of a list that was just read, by one GROUP BY.
    ///
    /// - Returns: `nil` if no aggregates are wanted, and if the rows have to be read: for short lists, for unsaved
    ///   changes, and for aggregates that SQL does not compute exactly.
    func groupedAggregates(of loaded: LoadedResults) throws -> AggregateTable? {
        let definition = loaded.definition
        guard let plan = definition.aggregates, loaded.window == nil, let origin = loaded.origin,
            let store = definition.identities.store, loaded.contents.rowCount > Self.fewRows,
            let grouped = try GroupedAggregates(definition, plan), try unsaved(definition).isEmpty
        else { return nil }
        // If SQL cannot compute a sum, the statement fails and the rows are read instead.
        let results = try? context.fetchPipeline.reading { () -> AggregateResults? in
            guard try ListOrigin(of: store) == origin else { return nil }
            let results = try grouped.results(of: loaded.contents, in: store)
            return try ListOrigin(of: store) == origin ? results : nil
        }
        return results.map { AggregateTable($0) }
    }
}

extension ResultsTracker {
    /// Reads the values that later changes of the aggregates need in the background, if the fetch returned the
    /// aggregates alone. An earlier change or a commit discards the result; the values are then read on demand.
    func readValuesOfAggregates(of made: ResultsState, _ origin: ListOrigin?) {
        guard let table = made.aggregates, !table.hasValues, let origin, let store = made.identities.store,
            let coordinator = context.persistentStoreCoordinator,
            hasFollowers || !caller.isDeaf(isSectioned: made.isSectioned)
        else { return }
        let (contents, definition, queue) = (made.tracked.detached(), made.definition, context.queue)
        let reference = WeakState(state: made)
        let task = UncheckedSendable {
            var origins: [ListOrigin] = []
            let found = try? BackgroundReader(interruption: Interruption()).reading(
                [store], coordinator, note: { origins.append(try ListOrigin(of: store)) }
            ) { readers in
                try ResultsLoader.values(table.plan, of: definition, from: readers[0])
            }
            guard let values = found ?? nil, let first = values.first, origins.allSatisfy({ $0 == origin }),
                contents.rows.elements(in: 0..<contents.rowCount).allSatisfy({ first[$0] != nil })
            else { return }
            let whole = UncheckedSendable(AggregateTable(table.plan, contents, values: values))
            queue.async { reference.state?.take(whole.value) }
        }
        BackgroundReader.queue.async { task.value() }
    }

    private struct WeakState {
        weak var state: ResultsState?
    }
}

extension ResultsState {
    /// Takes the fetched values of the rows, unless a change has already loaded them.
    fileprivate func take(_ table: AggregateTable) {
        if aggregates?.hasValues == false { aggregates = table }
    }
}

extension ResultsLoader {
    /// The values of a list's saved rows, for each of the plan's keys. On any thread.
    fileprivate static func values(
        _ plan: AggregatePlan, of definition: ListDefinition, from reader: any RowStore
    ) throws -> [[RowToken: SectionValue]]? {
        let list = definition.plan.limited(to: [reader]).unlimited.unsorted
        var query = list.query
        query.wantsRows = false
        query.extraPaths = plan.paths
        let found = try StoreFetch(plan: list).run(query)
        let tokens = found.keys.compactMap(RowIdentities.token)
        guard tokens.count == found.keys.count, let columns = found.extraValues else { return nil }
        return plan.values(of: tokens, in: columns)
    }
}
