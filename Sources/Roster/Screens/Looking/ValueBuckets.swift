import CoreData
import Foundation
import TerminalKit
import Translation

/// Groups the values of a column into buckets: one for each value if there are few, ranges of numbers and dates if
/// there are many.
nonisolated struct ValueBuckets {
    nonisolated struct Bucket {
        /// The values in a bucket.
        enum Values {
            case one(Any)
            /// A half-open range: the first value is included, the second is not.
            case range(Any, Any)
            case nothing
            /// All values without a bucket of their own, and how many these are.
            case others(Int)
        }

        let keyPath: String
        let values: Values
        let title: String
        var count = 0

        /// A predicate for the records of the bucket; `nil` if it would be too long.
        var predicate: NSPredicate? {
            switch values {
            case .one(let value): NSPredicate(format: "%K == %@", argumentArray: [keyPath, value])
            case .range(let start, let end):
                NSPredicate(format: "%K >= %@ AND %K < %@", argumentArray: [keyPath, start, keyPath, end])
            case .nothing: NSPredicate(format: "%K == NULL", keyPath)
            case .others: nil
            }
        }
    }

    /// Maximum number of different numbers or dates that are not grouped into ranges.
    static let greatestCount = 24

    private(set) var buckets: [Bucket] = []
    /// True if the buckets are ordered as numbers or dates; otherwise they are sorted by count, largest first.
    let isOrdered: Bool
    /// Number of different values, not counting nil.
    let distinctCount: Int
    private let ranges: [Range<Double>]
    private var places: [AnyHashable: Int] = [:]
    private var placeOfNothing: Int?
    private var placeOfOthers: Int?

    /// - Parameters:
    ///   - counts: the different values with their numbers of records.
    ///   - greatestCount: maximum number of texts with their own buckets. Rarer ones share a bucket.
    init(
        _ counts: [(value: Any?, count: Int)], of attribute: NSAttributeDescription, at keyPath: String,
        greatestCount: Int
    ) {
        let present = counts.filter { $0.value != nil }
        distinctCount = present.count
        let measured = Self.isMeasured(attribute)
        isOrdered = measured
        let numbers = present.compactMap { item in Self.number(item.value) }
        let isDate = attribute.attributeType == .dateAttributeType
        if measured, present.count > Self.greatestCount, let low = numbers.min(), let high = numbers.max(), low < high {
            let isWhole = !isDate && numbers.allSatisfy { $0 == $0.rounded() && abs($0) < 1e15 }
            ranges = isDate ? DateSteps.ranges(from: low, to: high) : Self.ranges(from: low, to: high, isWhole: isWhole)
            for range in ranges {
                let (start, end): (Any, Any) =
                    isDate
                    ? (
                        Date(timeIntervalSinceReferenceDate: range.lowerBound),
                        Date(timeIntervalSinceReferenceDate: range.upperBound)
                    )
                    : (Self.constant(range.lowerBound, isWhole), Self.constant(range.upperBound, isWhole))
                let title = isDate ? DateSteps.title(range, among: ranges) : Self.title(range, isWhole: isWhole)
                buckets.append(Bucket(keyPath: keyPath, values: .range(start, end), title: title))
            }
        } else {
            ranges = []
            let sorted =
                measured
                ? present.sorted { Self.number($0.value) ?? 0 < Self.number($1.value) ?? 0 }
                : present.count > greatestCount
                    ? present.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
                        .map(\.element) : present
            for item in measured ? sorted : Array(sorted.prefix(greatestCount)) {
                guard let value = item.value, let key = Hashing.key(value) else { continue }
                places[key] = buckets.count
                let shown = ValueDisplay.text(value, of: attribute)
                buckets.append(
                    Bucket(keyPath: keyPath, values: .one(value), title: shown.isEmpty ? "(empty)" : shown))
            }
            if !measured, sorted.count > greatestCount {
                let count = sorted.count - greatestCount
                placeOfOthers = buckets.count
                buckets.append(
                    Bucket(
                        keyPath: keyPath, values: .others(count),
                        title: count == 1
                            ? tr("1 rarer value") : sentence("\(GroupedNumber.text(count)) rarer values")))
            }
        }
        if counts.contains(where: { $0.value == nil && $0.count > 0 }) {
            placeOfNothing = buckets.count
            buckets.append(Bucket(keyPath: keyPath, values: .nothing, title: "–"))
        }
        for (value, count) in counts { if let place = place(of: value) { buckets[place].count += count } }
        if !ranges.isEmpty { return }
        guard !measured else { return }
        sortByCount()
    }

    /// The index of a value's bucket; `nil` if the value was not counted.
    func place(of value: Any?) -> Int? {
        guard let value else { return placeOfNothing }
        guard !ranges.isEmpty else { return Hashing.key(value).flatMap { places[$0] } ?? placeOfOthers }
        guard let number = Self.number(value) else { return placeOfNothing }
        var (low, high) = (0, ranges.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if ranges[middle].lowerBound <= number { low = middle } else { high = middle }
        }
        return low
    }

    /// Sorts the buckets by count, largest first. Equal ones keep their order.
    private mutating func sortByCount() {
        let order = buckets.indices.sorted { (buckets[$1].count, $0) < (buckets[$0].count, $1) }
        var newPlaces: [Int: Int] = [:]
        for (new, old) in order.enumerated() { newPlaces[old] = new }
        buckets = order.map { buckets[$0] }
        places = places.compactMapValues { newPlaces[$0] }
        placeOfNothing = placeOfNothing.flatMap { newPlaces[$0] }
        placeOfOthers = placeOfOthers.flatMap { newPlaces[$0] }
    }

    // MARK: Numbers

    static func isMeasured(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .decimalAttributeType, .dateAttributeType:
            true
        default: false
        }
    }

    /// A number or date as a `Double`.
    static func number(_ value: Any?) -> Double? {
        switch value {
        case let date as Date: date.timeIntervalSinceReferenceDate
        case let number as NSNumber: number.doubleValue.isFinite ? number.doubleValue : nil
        default: nil
        }
    }

    private static func constant(_ number: Double, _ isWhole: Bool) -> Any { isWhole ? Int64(number) : number }

    /// Equal ranges with round bounds: the step is 1, 2 or 5 times a power of ten.
    private static func ranges(from low: Double, to high: Double, isWhole: Bool) -> [Range<Double>] {
        var step = pow(10, floor(log10((high - low) / 10)))
        for factor in [1.0, 2, 5, 10] where (high - low) / (step * factor) <= 15 {
            step *= factor
            break
        }
        if isWhole { step = max(1, step.rounded(.up)) }
        var start = (low / step).rounded(.down) * step
        var result: [Range<Double>] = []
        while start <= high, result.count < 100 {
            let end = ((start + step) / step).rounded() * step
            guard end > start else { break }
            result.append(start..<end)
            start = end
        }
        return result
    }

    private static func title(_ range: Range<Double>, isWhole: Bool) -> String {
        func text(_ number: Double) -> String {
            isWhole ? String(Int64(number)) : String(format: "%.6g", number)
        }
        if isWhole, range.upperBound - range.lowerBound == 1 { return text(range.lowerBound) }
        return "\(text(range.lowerBound)) – \(text(isWhole ? range.upperBound - 1 : range.upperBound))"
    }
}

/// Ranges of dates in calendar steps from minutes to centuries. The time zone is that of displayed values.
nonisolated private enum DateSteps {
    private static let calendar = DateDisplay.utc

    private static let steps: [(unit: Calendar.Component, count: Int, seconds: Double)] = [
        (.minute, 1, 60), (.minute, 10, 600), (.hour, 1, 3600), (.hour, 6, 21600), (.day, 1, 86400),
        (.day, 7, 604_800), (.month, 1, 2_629_746), (.month, 3, 7_889_238), (.year, 1, 31_556_952),
        (.year, 5, 157_784_760), (.year, 10, 315_569_520), (.year, 50, 1_577_847_600), (.year, 100, 3_155_695_200),
    ]

    static func ranges(from low: Double, to high: Double) -> [Range<Double>] {
        let step = steps.first { (high - low) / $0.seconds <= 20 } ?? steps[steps.count - 1]
        let least = Date(timeIntervalSinceReferenceDate: low)
        guard DateDisplay.isInCalendar(least) else { return [low..<high.nextUp] }
        let cycle = DateDisplay.Cycle(of: least)
        var start = beginning(of: cycle.moved(least), step.unit, step.count, cycle)
        var result: [Range<Double>] = []
        while cycle.back(start).timeIntervalSinceReferenceDate <= high, result.count < 400 {
            guard let end = calendar.date(byAdding: step.unit, value: step.count, to: start), end > start else { break }
            result.append(
                cycle.back(start).timeIntervalSinceReferenceDate..<cycle.back(end).timeIntervalSinceReferenceDate)
            start = end
        }
        return result
    }

    private static func beginning(
        of date: Date, _ unit: Calendar.Component, _ count: Int, _ cycle: DateDisplay.Cycle
    ) -> Date {
        let start = calendar.dateInterval(of: unit, for: date)?.start ?? date
        guard count > 1 else { return start }
        var parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: start)
        switch unit {
        case .minute: parts.minute = (parts.minute ?? 0) / count * count
        case .hour: parts.hour = (parts.hour ?? 0) / count * count
        case .month: parts.month = ((parts.month ?? 1) - 1) / count * count + 1
        case .year:
            let year = parts.year ?? 0
            parts.year = year - (cycle.year(year) % count + count) % count
        default: break
        }
        return calendar.date(from: parts) ?? start
    }

    static func title(_ range: Range<Double>, among ranges: [Range<Double>]) -> String {
        let start = Date(timeIntervalSinceReferenceDate: range.lowerBound)
        guard DateDisplay.isInCalendar(start) else { return DateDisplay.short(start) }
        let cycle = DateDisplay.Cycle(of: start)
        let last = cycle.moved(Date(timeIntervalSinceReferenceDate: range.upperBound - 1))
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: cycle.moved(start))
        let seconds = range.upperBound - range.lowerBound
        func two(_ number: Int?) -> String { String(format: "%02d", number ?? 0) }
        let year = String(cycle.year(parts.year ?? 0))
        switch seconds {
        case 60_000_000...: return "\(year) – \(cycle.year(calendar.component(.year, from: last)))"
        case 20_000_000...: return year
        case 3_000_000...: return "\(year)-\(two(parts.month)) – \(two(calendar.component(.month, from: last)))"
        case 2_000_000...: return "\(year)-\(two(parts.month))"
        case 86_000...: return "\(year)-\(two(parts.month))-\(two(parts.day))"
        default: return "\(year)-\(two(parts.month))-\(two(parts.day)) \(two(parts.hour)):\(two(parts.minute))Z"
        }
    }
}
