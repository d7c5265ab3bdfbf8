import Foundation
import PredicateSyntax

/// Equality and order of values, the same in both evaluators.
///
/// - `nil` equals `nil` and an empty to-many relationship; it is neither less nor greater than anything.
/// - Numbers of all types, Booleans and dates compare by value; integers compare with reals exactly.
/// - Texts compare by their UTF-8 bytes, data and UUIDs by their bytes.
/// - Values of different kinds are unequal and have no order.
enum ValueOrder {
    // MARK: Equality

    static func areEqual(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.null, .collection(let elements)), (.collection(let elements), .null): return elements.isEmpty
        case (.null, _), (_, .null): return false
        case (.integer(let left), .integer(let right)): return left == right
        case (.text(let left), .text(let right)): return TextBytes.areEqual(left, right)
        case (.uuid(let left), .uuid(let right)): return left == right
        case (.data(let left), .data(let right)): return left == right
        case (.entity(let left), .entity(let right)): return left === right || left.name == right.name
        case (.collection(let left), .collection(let right)):
            return haveSameElements(left, right)
        case (.other(let left), .other(let right)): return areEqual(left, right)
        default:
            if let left = left.objectID, let right = right.objectID { return left.isEqual(right) }
            return compare(left, right) == .orderedSame
        }
    }

    /// Compares two collections as multisets.
    private static func haveSameElements(_ left: [PredicateValue], _ right: [PredicateValue]) -> Bool {
        guard left.count == right.count else { return false }
        var rest = right
        for element in left {
            guard let place = rest.firstIndex(where: { areEqual(element, $0) }) else { return false }
            rest.remove(at: place)
        }
        return true
    }

    private static func areEqual(_ left: Any, _ right: Any) -> Bool {
        if let left = left as? AnyHashable, let right = right as? AnyHashable { return left == right }
        return (left as AnyObject) === (right as AnyObject)
    }

    /// Equality under comparison options, which affect only texts.
    static func areEqual(_ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonOptions) -> Bool {
        guard TextFolding.isNeeded(options), case .text(let leftText) = left, case .text(let rightText) = right else {
            return areEqual(left, right)
        }
        return TextFolding.bytes(of: leftText, options) == TextFolding.bytes(of: rightText, options)
    }

    // MARK: Order

    /// The order of two values; `nil` if they have none.
    static func compare(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return order(left, right)
        case (.text(let left), .text(let right)): return TextBytes.compare(left, right)
        case (.data(let left), .data(let right)): return TextBytes.compare(left, right)
        case (.uuid(let left), .uuid(let right)): return TextBytes.compare(left, right)
        case (.decimal(let left), .decimal(let right)): return order(left, right)
        case (.decimal(let left), .integer(let right)): return order(left, Decimal(right))
        case (.integer(let left), .decimal(let right)): return order(Decimal(left), right)
        default:
            guard let left = left.number, let right = right.number else { return nil }
            return Number.compare(left, right)
        }
    }

    /// Order under comparison options, which affect only texts.
    // SAFETY: the arrays outlive the closures.
    static func compare(
        _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonOptions
    ) -> ComparisonResult? {
        guard case .text(let leftText) = left, case .text(let rightText) = right else { return compare(left, right) }
        if options.contains(.localeSensitive) {
            let isFolded = options.contains(.caseInsensitive)
            return LocalizedOrder.compare(leftText, rightText, isFolded ? .localizedCaseInsensitive : .localized)
        }
        guard TextFolding.isNeeded(options) else { return TextBytes.compare(leftText, rightText) }
        return TextFolding.bytes(of: leftText, options).withUnsafeBufferPointer { left in
            TextFolding.bytes(of: rightText, options).withUnsafeBufferPointer { TextBytes.compare(left, $0) }
        }
    }

    static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }

    // MARK: Sorting

    /// A total order for sorting: `nil` first, then by value. Kinds without an order between them are sorted by kind.
    static func compareForSorting(
        _ left: PredicateValue, _ right: PredicateValue, _ comparison: StoreSortKey.Comparison
    ) -> ComparisonResult {
        if case .text(let left) = left, case .text(let right) = right {
            return LocalizedOrder.compare(left, right, comparison)
        }
        if let result = compare(left, right) { return result }
        if let left = left.objectID, let right = right.objectID { return ObjectOrdering.compare(left, right) }
        return order(left.rank, right.rank)
    }
}

extension PredicateValue {
    /// The rank of a kind in SQLite's sort order.
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real, .decimal, .date: 1
        case .text: 2
        case .data, .uuid: 3
        case .object, .reference: 4
        case .entity, .collection, .other: 5
        }
    }

    /// The value as an integer or a real; `nil` if it is not a number.
    var number: Number? {
        switch self {
        case .integer(let number): .integer(number)
        case .real(let number), .date(let number): .real(number)
        case .decimal(let decimal): Number(decimal)
        default: nil
        }
    }
}

/// An integer or a real, as in SQLite's arithmetic.
enum Number {
    case integer(Int64)
    case real(Double)

    var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        }
    }

    /// The order of numbers, exact even if an integer has no equal `Double`; `nil` for NaN.
    static func compare(_ left: Number, _ right: Number) -> ComparisonResult? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return ValueOrder.order(left, right)
        case (.real(let left), .real(let right)):
            return left.isNaN || right.isNaN ? nil : ValueOrder.order(left, right)
        case (.integer(let left), .real(let right)): return compare(left, right)
        case (.real(let left), .integer(let right)): return compare(right, left).map { $0.directed(false) }
        }
    }

    private static func compare(_ left: Int64, _ right: Double) -> ComparisonResult? {
        if right.isNaN { return nil }
        if right >= 0x1p63 { return .orderedAscending }
        if right < -0x1p63 { return .orderedDescending }
        let whole = Int64(right)
        if left != whole { return ValueOrder.order(left, whole) }
        return ValueOrder.order(0, right - Double(whole))
    }

    /// Converts a decimal to an equal integer, or else to the nearest `Double`, read from its digits. Stores keep the
    /// same number.
    init(_ decimal: Decimal) {
        let text = NSDecimalNumber(decimal: decimal).stringValue
        self = Int64(text).map { .integer($0) } ?? .real(Double(text) ?? NSDecimalNumber(decimal: decimal).doubleValue)
    }
}

/// The text orders of sort descriptors.
enum LocalizedOrder {
    static func compare(_ left: String, _ right: String, _ comparison: StoreSortKey.Comparison) -> ComparisonResult {
        switch comparison {
        case .plain, .custom: TextBytes.compare(left, right)
        case .caseInsensitive:
            TextBytes.with(left) { left in TextBytes.with(right) { TextFolding.compareCaseInsensitive(left, $0) } }
        case .localized: left.localizedCompare(right)
        case .localizedCaseInsensitive: left.localizedCaseInsensitiveCompare(right)
        case .localizedStandard: left.localizedStandardCompare(right)
        }
    }
}
