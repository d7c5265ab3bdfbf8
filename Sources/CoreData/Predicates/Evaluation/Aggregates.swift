import Foundation

/// Functions of many values. They ignore `nil`, as SQL does.
enum Aggregates {
    /// The sum; 0 if there are no elements.
    @Sendable static func sum(_ values: [PredicateValue]) -> PredicateValue {
        var total = PredicateValue.integer(0)
        for value in values where !value.isNull { total = Arithmetic.add(total, value) }
        return total
    }

    /// The average; `nil` if there are no elements.
    @Sendable static func average(_ values: [PredicateValue]) -> PredicateValue {
        let present = values.filter { !$0.isNull }
        if present.isEmpty { return .null }
        let total = sum(present)
        if case .decimal = total { return Arithmetic.divide(total, .decimal(Decimal(present.count))) }
        return total.number.map { .real($0.double / Double(present.count)) } ?? .null
    }

    @Sendable static func minimum(_ values: [PredicateValue]) -> PredicateValue { extreme(values, .orderedAscending) }
    @Sendable static func maximum(_ values: [PredicateValue]) -> PredicateValue { extreme(values, .orderedDescending) }

    private static func extreme(_ values: [PredicateValue], _ wanted: ComparisonResult) -> PredicateValue {
        var best = PredicateValue.null
        for value in values where !value.isNull {
            if best.isNull || ValueOrder.compare(value, best) == wanted { best = value }
        }
        return best
    }

    /// The median: the middle value, or the mean of the two middle values.
    static func median(_ values: [PredicateValue]) -> PredicateValue {
        let numbers = numbers(values).sorted()
        if numbers.isEmpty { return .null }
        let middle = numbers.count / 2
        return .real(numbers.count % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2)
    }

    /// The most frequent values, in order.
    static func mode(_ values: [PredicateValue]) -> PredicateValue {
        var counts: [Double: Int] = [:]
        for number in numbers(values) { counts[number, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        return .collection(counts.filter { $0.value == most }.keys.sorted().map { .real($0) })
    }

    /// The standard deviation of the whole population.
    static func standardDeviation(_ values: [PredicateValue]) -> PredicateValue {
        let numbers = numbers(values)
        if numbers.isEmpty { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)
        return .real(variance.squareRoot())
    }

    static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
        var seen = ValueSet([], options: [])
        return values.filter { seen.insert($0) }
    }

    private static func numbers(_ values: [PredicateValue]) -> [Double] { values.compactMap { $0.number?.double } }
}
