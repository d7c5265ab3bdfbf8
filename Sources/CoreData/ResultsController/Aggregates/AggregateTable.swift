import Foundation

/// The attributes that a list aggregates, resolved for its entity.
// SAFETY: immutable values; the descriptions in its keys belong to a model in use, which does not change.
struct AggregatePlan: @unchecked Sendable {
    let aggregates: [SectionAggregate]
    let keys: [SectionKey]
    /// The functions that are wanted of each key.
    private(set) var functions: [Set<SectionAggregate.Function>]
    private let places: [String: Int]

    /// - Throws: 134060 for a key path that does not end in an attribute, for sums of attributes that are not numeric,
    ///   for minima and maxima of attributes without an order, and for values that are too large to be kept for each
    ///   row.
    init(_ aggregates: [SectionAggregate], of entity: NSEntityDescription) throws {
        self.aggregates = aggregates
        var keys: [SectionKey] = []
        var places: [String: Int] = [:]
        for aggregate in aggregates {
            let key = SectionKey(aggregate.keyPath, of: entity)
            let name = entity.name ?? ""
            guard key.attributeType != nil, key.isStored else {
                throw CoreDataError.make(
                    134060, "Cannot compute \(aggregate) of \(name): it has no stored attribute \(aggregate.keyPath).")
            }
            if let problem = Self.problem(aggregate.function, key) {
                throw CoreDataError.make(
                    134060, "Cannot compute \(aggregate) of \(name): \(aggregate.keyPath) \(problem).")
            }
            guard places[aggregate.keyPath] == nil else { continue }
            places[aggregate.keyPath] = keys.count
            keys.append(key)
        }
        self.keys = keys
        self.places = places
        functions = keys.map { _ in [] }
        for aggregate in aggregates {
            if let place = places[aggregate.keyPath] { functions[place].insert(aggregate.function) }
        }
    }

    /// The reason why an attribute does not support the aggregate; `nil` if it does.
    private static func problem(_ function: SectionAggregate.Function, _ key: SectionKey) -> String? {
        let isNumber = key.isNumber || key.attributeType == .booleanAttributeType
        switch function {
        case .sum, .average: return isNumber ? nil : "is not a number"
        case .minimum, .maximum:
            let isOrdered = key.attributeType == .dateAttributeType || key.attributeType == .stringAttributeType
            return isNumber || isOrdered ? nil : "is not a number, date or text"
        case .count:
            switch key.attributeType {
            case .binaryDataAttributeType, .transformableAttributeType, .compositeAttributeType:
                return "is too large to read for each row; count another attribute"
            default: return nil
            }
        }
    }

    var paths: [[String]] { keys.map(\.keys) }

    /// The values of rows, by the plan's keys, from those that a store returned for ``paths``.
    func values(of rows: [RowToken], in columns: some Sequence<[SlotValue]>) -> [[RowToken: SectionValue]] {
        zip(keys, columns).map { key, column in
            Dictionary(zip(rows, column.lazy.map(key.typed)), uniquingKeysWith: { first, _ in first })
        }
    }

    func result(_ aggregate: SectionAggregate, of accumulators: [Accumulator]) -> SectionValue? {
        guard let place = places[aggregate.keyPath], place < accumulators.count,
            functions[place].contains(aggregate.function), let type = keys[place].attributeType
        else { return nil }
        return accumulators[place].result(aggregate.function, type)
    }
}

/// The aggregates of a list's sections at one moment. A copy costs a few references.
// SAFETY: a value; the state that its copies share is never changed.
struct AggregateResults: @unchecked Sendable {
    let plan: AggregatePlan
    /// The accumulated values by section number; empty for a section without rows.
    fileprivate var sections = PagedSlots<[Accumulator]>()
    fileprivate(set) var total: [Accumulator]

    init(_ plan: AggregatePlan) {
        self.plan = plan
        total = plan.keys.map { _ in Accumulator() }
    }

    init(_ plan: AggregatePlan, sections: [UInt32: [Accumulator]]) {
        self.init(plan)
        for (number, accumulators) in sections.sorted(by: { $0.key < $1.key }) {
            change(number) { $0 = accumulators }
            for (place, accumulator) in accumulators.enumerated() { total[place].add(accumulator) }
        }
    }

    var none: [Accumulator] { plan.keys.map { _ in Accumulator() } }

    subscript(number: UInt32) -> [Accumulator] {
        guard Int(number) < sections.count else { return none }
        let known = sections[number]
        return known.isEmpty ? none : known
    }

    /// The combined accumulators of several sections.
    func merged(_ numbers: some Sequence<UInt32>) -> [Accumulator] {
        var result = none
        for number in numbers {
            for (place, accumulator) in self[number].enumerated() { result[place].add(accumulator) }
        }
        return result
    }

    fileprivate mutating func change(_ number: UInt32, _ body: (inout [Accumulator]) -> Void) {
        while sections.count <= Int(number) { _ = sections.add([]) }
        if sections[number].isEmpty { sections[number] = none }
        body(&sections[number])
    }

    /// True if the aggregates of all sections of `contents` equal those of `other`.
    func isSame(as other: AggregateResults, in contents: ListContents) -> Bool {
        func areSame(_ left: [Accumulator], _ right: [Accumulator]) -> Bool {
            plan.aggregates.allSatisfy { aggregate in
                guard let left = plan.result(aggregate, of: left), let right = other.plan.result(aggregate, of: right)
                else { return false }
                return left.isSame(as: right)
            }
        }
        return areSame(total, other.total)
            && contents.allSections.allSatisfy { areSame(self[$0.number], other[$0.number]) }
    }

    /// A copy in which the sections of `contents` have other numbers.
    func renumbered(_ contents: ListContents, _ number: (UInt32) -> UInt32) -> AggregateResults {
        var copy = AggregateResults(plan)
        copy.total = total
        for section in contents.allSections {
            let accumulators = self[section.number]
            copy.change(number(section.number)) { $0 = accumulators }
        }
        return copy
    }
}

/// Keeps aggregates up to date: holds the results and, by row, the values that they were computed from.
///
/// When a row changes, its old values are removed from its old section, and its new values are added to its new one. A
/// section's rows are read again only if its least or greatest value was removed, or its sum was rounded. Memory: 75 to
/// 150 bytes for each row and attribute, depending on how full the tables are, and the size of texts.
// SAFETY: a value; the state that its copies share is never changed.
struct AggregateTable: @unchecked Sendable {
    private(set) var results: AggregateResults
    /// The values of the rows, for each of the plan's keys. Empty if the results are from the store: the values have to
    /// be read before the first change is followed.
    private var values: [[RowToken: SectionValue]]

    var plan: AggregatePlan { results.plan }
    /// True if changes can be followed.
    var hasValues: Bool { !values.isEmpty }

    init(_ results: AggregateResults) {
        self.results = results
        values = []
    }

    /// A copy in which some rows have other numbers.
    func renamed(_ rows: [RowToken: RowToken]) -> AggregateTable {
        var copy = self
        for place in copy.values.indices {
            for (old, new) in rows { copy.values[place][new] = copy.values[place].removeValue(forKey: old) }
        }
        return copy
    }

    /// - Parameter values: for each of the plan's keys, the values of the rows of `contents`.
    init(_ plan: AggregatePlan, _ contents: ListContents, values: [[RowToken: SectionValue]]) {
        results = AggregateResults(plan)
        self.values = values
        var position = 0
        for section in contents.allSections where section.rowCount > 0 {
            let rows = contents.rows.elements(in: position..<position + section.weight)
            position += section.weight
            var accumulators = results.none
            for (place, known) in values.enumerated() {
                for row in rows { accumulators[place].add(known[row] ?? .missing) }
            }
            results.change(section.number) { $0 = accumulators }
            for (place, accumulator) in accumulators.enumerated() { results.total[place].add(accumulator) }
        }
    }

    /// Updates the aggregates from one state of the list to the next.
    ///
    /// - Parameters:
    ///   - rows: all rows that were inserted, deleted, changed or got another section.
    ///   - newValues: for each of these rows in the new state, its values by the plan's keys.
    mutating func follow(
        from old: ListContents, to new: ListContents, rows: some Collection<RowToken>,
        newValues: [RowToken: [SectionValue]]
    ) {
        var changed: Set<UInt32> = []
        for row in rows {
            let before = old.sectionNumber(of: row)
            let after = new.sectionNumber(of: row)
            if before == nil, after == nil { continue }
            let taken = values.map { $0[row] ?? .missing }
            let put = after == nil ? [] : newValues[row] ?? taken
            if before == after, taken == put { continue }
            if let before {
                changed.insert(before)
                results.change(before) { for place in taken.indices { $0[place].remove(taken[place]) } }
                for place in taken.indices { results.total[place].remove(taken[place]) }
            }
            if let after {
                changed.insert(after)
                results.change(after) { for place in put.indices { $0[place].add(put[place]) } }
                for place in put.indices { results.total[place].add(put[place]) }
            }
            for place in values.indices { values[place][row] = put.isEmpty ? nil : put[place] }
        }
        guard !changed.isEmpty else { return }
        for number in changed { search(number, new) }
        searchTotal(new)
    }

    /// Searches for the least and greatest values of a section that are not known, and adds up rounded sums again.
    private mutating func search(_ number: UInt32, _ contents: ListContents) {
        let accumulators = results[number]
        guard accumulators.contains(where: \.mustSearch) else { return }
        let rows = contents.rows.elements(in: contents.range(ofSection: number))
        for place in accumulators.indices where accumulators[place].mustSearch {
            let known = values[place]
            var found = Accumulator()
            for row in rows { found.add(known[row] ?? .missing) }
            results.change(number) { $0[place] = found }
        }
    }

    private mutating func searchTotal(_ contents: ListContents) {
        let places = results.total.indices.filter { results.total[$0].mustSearch }
        guard !places.isEmpty else { return }
        for place in places { results.total[place] = Accumulator() }
        for section in contents.allSections where section.rowCount > 0 {
            let accumulators = results[section.number]
            for place in places { results.total[place].add(accumulators[place]) }
        }
    }
}

extension ListContents {
    /// The number of the section that contains a row; `nil` if the row is not in the list. O(log n).
    func sectionNumber(of row: RowToken) -> UInt32? {
        rows.position(of: row.code).map { sections.locate(weight: $0).element.number }
    }
}
