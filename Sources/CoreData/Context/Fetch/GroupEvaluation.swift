import Foundation
import PredicateSyntax

/// Evaluates groups and their aggregates in memory, like ``StoreOperations/groups(_:)`` in stores that support it.
struct GroupEvaluation {
    private let query: StoreGroupQuery
    private var aggregates: AggregateCalls
    private let groups: [CompiledExpression]
    private let columns: [CompiledExpression]
    private let sortValues: [CompiledExpression]
    private let having: PredicateTest?

    /// - Throws: a `CocoaError` for an expression that cannot be evaluated.
    init(_ query: StoreGroupQuery) throws {
        self.query = query
        let entity = query.rows.entity
        var aggregates = AggregateCalls(of: entity)
        groups = try query.groups.map { tree in
            var compiler = PredicateCompiler(entity: entity)
            return try compiler.expression(tree)
        }
        columns = try query.columns.map { try aggregates.compile($0) }
        sortValues = try query.sortKeys.map { try aggregates.compile($0.tree) }
        having = try query.having.map { try aggregates.compile($0) }
        self.aggregates = aggregates
    }

    private struct Group {
        /// The values of the sort keys, followed by those of the group.
        let order: [PredicateValue]
        let values: [PredicateValue]
    }

    /// The columns' values of each group, in order, with limit and offset applied.
    func run(_ rows: [FetchedRow]) -> [[PredicateValue]] {
        var found: [Group] = []
        for (key, members) in grouped(rows) {
            let frame = aggregates.frame(members)
            if let having, !having(frame) { continue }
            found.append(
                Group(order: sortValues.map { $0.evaluate(frame) } + key, values: columns.map { $0.evaluate(frame) }))
        }
        found.sort { precedes($0, $1) }
        let rest = found.dropFirst(query.offset)
        return (query.limit > 0 ? rest.prefix(query.limit) : rest).map(\.values)
    }

    private func grouped(_ rows: [FetchedRow]) -> [(key: [PredicateValue], rows: [FetchedRow])] {
        guard !groups.isEmpty else { return [([], rows)] }
        var places: [[GroupKey]: Int] = [:]
        var found: [(key: [PredicateValue], rows: [FetchedRow])] = []
        for row in rows {
            let values = groups.map { $0.evaluate(EvaluationFrame(subject: .object(row))) }
            let key = values.map(GroupKey.init)
            if let place = places[key] {
                found[place].rows.append(row)
            } else {
                places[key] = found.count
                found.append((values, [row]))
            }
        }
        return found
    }

    private func precedes(_ left: Group, _ right: Group) -> Bool {
        for index in left.order.indices {
            let key = index < query.sortKeys.count ? query.sortKeys[index] : nil
            let result = compare(left.order[index], right.order[index], key)
            if result != .orderedSame { return result == .orderedAscending }
        }
        return false
    }

    private func compare(
        _ left: PredicateValue, _ right: PredicateValue, _ key: StoreGroupQuery.SortKey?
    ) -> ComparisonResult {
        guard let key else { return ValueOrder.compareForSorting(left, right, .plain) }
        guard let code = key.code, let first = left.foundationValue, let second = right.foundationValue else {
            return ValueOrder.compareForSorting(left, right, key.key.comparison).directed(key.key.ascending)
        }
        return code(first, second).directed(key.key.ascending)
    }
}

/// A value to group by; equal if the store's SQL treats the values as equal.
private enum GroupKey: Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case data(Data)
    case uuid(UUID)
    case decimal(Decimal)
    case id(NSManagedObjectID)
    case other(AnyHashable)

    init(_ value: PredicateValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number), .date(let number):
            self = Int64(exactly: number).map { .integer($0) } ?? .real(number)
        case .decimal(let number): self = .decimal(number)
        case .text(let text): self = .text(Array(text.utf8))
        case .data(let data): self = .data(data)
        case .uuid(let uuid): self = .uuid(uuid)
        case .object(let row): self = .id(row.objectID)
        case .reference(let id): self = .id(id)
        case .entity(let entity): self = .other(AnyHashable(entity))
        case .collection(let elements): self = .other(AnyHashable(elements.map(GroupKey.init)))
        case .other(let value): self = .other((value as? AnyHashable) ?? AnyHashable("\(value)"))
        }
    }
}
