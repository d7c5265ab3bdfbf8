import Foundation

/// What is known of the values of one attribute in some rows: enough for every aggregate, and to take one more or one less.
struct Accumulator: Hashable, Sendable {
    /// How many values there are.
    private(set) var count = 0
    private var whole: Int128 = 0
    private var decimal = Decimal()
    private var real = RealSum()
    private(set) var least = Extreme()
    private(set) var greatest = Extreme()

    /// The least or the greatest value, and how often it is there.
    struct Extreme: Hashable, Sendable {
        var value = SectionValue.none
        var times = 0
        /// Whether the last one was taken away: the value must be looked for.
        var isLost = false
    }

    /// Whether a least or greatest value has to be looked for.
    var mustSearch: Bool { least.isLost || greatest.isLost }

    mutating func add(_ value: SectionValue) {
        if value == .none { return }
        count += 1
        addToSum(value, 1)
        Self.add(value, to: &least, if: .orderedAscending)
        Self.add(value, to: &greatest, if: .orderedDescending)
    }

    mutating func remove(_ value: SectionValue) {
        if value == .none { return }
        count -= 1
        addToSum(value, -1)
        Self.remove(value, from: &least, isLast: count == 0)
        Self.remove(value, from: &greatest, isLast: count == 0)
        // Nothing is left of what was rounded.
        if count == 0 { self = Accumulator() }
    }

    /// Takes all values of other rows.
    mutating func add(_ other: Accumulator) {
        guard other.count > 0 else { return }
        count += other.count
        whole += other.whole
        decimal += other.decimal
        real.add(other.real)
        takeExtremes(of: other)
    }

    /// Takes the least and the greatest value of other rows into the search.
    mutating func takeExtremes(of other: Accumulator) {
        Self.take(other.least, into: &least, if: .orderedAscending)
        Self.take(other.greatest, into: &greatest, if: .orderedDescending)
    }

    private static func take(_ other: Extreme, into extreme: inout Extreme, if order: ComparisonResult) {
        guard other.times > 0 else { return }
        if extreme.times == 0 { return extreme = other }
        let result = SectionValue.compare(other.value, extreme.value)
        if result == .orderedSame { extreme.times += other.times }
        if result == order { extreme = other }
    }

    /// Begins to look for the least and the greatest value: what follows is ``consider(_:)`` for each.
    mutating func beginSearch() { (least, greatest) = (Extreme(), Extreme()) }

    mutating func consider(_ value: SectionValue) {
        if value == .none { return }
        Self.add(value, to: &least, if: .orderedAscending)
        Self.add(value, to: &greatest, if: .orderedDescending)
    }

    private mutating func addToSum(_ value: SectionValue, _ sign: Int) {
        switch value {
        case .integer(let number): whole += Int128(number) * Int128(sign)
        case .boolean(let flag): whole += flag ? Int128(sign) : 0
        case .decimal(let number): decimal += sign > 0 ? number : -number
        case .real(let number): real.add(number, sign)
        default: break
        }
    }

    private static func add(_ value: SectionValue, to extreme: inout Extreme, if order: ComparisonResult) {
        // What comes now says nothing of those that are still to be looked for.
        if extreme.isLost { return }
        if extreme.times == 0 {
            extreme = Extreme(value: value, times: 1)
            return
        }
        let result = SectionValue.compare(value, extreme.value)
        if result == .orderedSame { extreme.times += 1 }
        if result == order { extreme = Extreme(value: value, times: 1) }
    }

    private static func remove(_ value: SectionValue, from extreme: inout Extreme, isLast: Bool) {
        guard !extreme.isLost, SectionValue.compare(value, extreme.value) == .orderedSame else { return }
        extreme.times -= 1
        if extreme.times == 0 && !isLast { extreme.isLost = true }
    }

    // MARK: Results

    func result(_ function: SectionAggregate.Function, _ type: NSAttributeType) -> SectionValue {
        switch function {
        case .count: return .integer(count)
        case .minimum: return count == 0 ? .none : least.value
        case .maximum: return count == 0 ? .none : greatest.value
        case .sum:
            switch type {
            case .decimalAttributeType: return .decimal(decimal)
            case .doubleAttributeType, .floatAttributeType: return .real(real.value)
            default: return Int(exactly: whole).map { .integer($0) } ?? .decimal(Self.decimal(whole))
            }
        case .average:
            if count == 0 { return .none }
            switch type {
            case .decimalAttributeType: return .decimal(decimal / Decimal(count))
            case .doubleAttributeType, .floatAttributeType: return .real(real.value / Double(count))
            default: return .real(Double(whole) / Double(count))
            }
        }
    }

    private static func decimal(_ number: Int128) -> Decimal { Decimal(string: "\(number)", locale: nil) ?? .nan }
}

/// A sum of real numbers to which numbers are added and from which they are taken, kept to twice the digits of its terms.
struct RealSum: Hashable, Sendable {
    private var high = 0.0
    private var low = 0.0
    // What is not finite does not go away by subtraction.
    private var infinite = 0
    private var negativeInfinite = 0
    private var notNumbers = 0

    mutating func add(_ number: Double, _ sign: Int) {
        if number.isNaN {
            notNumbers += sign
        } else if number.isInfinite {
            if number > 0 { infinite += sign } else { negativeInfinite += sign }
        } else {
            addFinite(sign > 0 ? number : -number)
        }
    }

    mutating func add(_ other: RealSum) {
        addFinite(other.high)
        addFinite(other.low)
        infinite += other.infinite
        negativeInfinite += other.negativeInfinite
        notNumbers += other.notNumbers
    }

    private mutating func addFinite(_ number: Double) {
        let sum = high + number
        let part = sum - high
        low += (high - (sum - part)) + (number - part)
        high = sum + low
        low -= high - sum
    }

    var value: Double {
        if notNumbers > 0 || infinite > 0 && negativeInfinite > 0 { return .nan }
        if infinite > 0 { return .infinity }
        if negativeInfinite > 0 { return -.infinity }
        return high + low
    }
}
