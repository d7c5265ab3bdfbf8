import Foundation

/// Statistics of the values of one attribute in some rows: enough for every aggregate, and to add or remove one value.
struct Accumulator: Hashable, Sendable {
    /// The number of values.
    private(set) var count = 0
    private var whole: Int128 = 0
    private var decimal = DecimalSum()
    private var real = RealSum()
    private(set) var least = Extreme()
    private(set) var greatest = Extreme()

    /// The least or the greatest value, and the number of its occurrences.
    struct Extreme: Hashable, Sendable {
        var value = SectionValue.missing
        var times = 0
        /// True if the last occurrence was removed: the value must be searched for.
        var isLost = false
    }

    init() {}

    /// Statistics computed by a store: sufficient for results, but not for later changes.
    init(count: Int, sum: Int128, least: SectionValue, greatest: SectionValue) {
        self.count = count
        whole = sum
        if least != .missing { self.least = Extreme(value: least, times: 1) }
        if greatest != .missing { self.greatest = Extreme(value: greatest, times: 1) }
    }

    /// True if the values have to be added up again: a least or greatest value was removed, or a value was subtracted
    /// from a rounded sum.
    var mustSearch: Bool { least.isLost || greatest.isLost || decimal.isLost || real.isLost }

    mutating func add(_ value: SectionValue) {
        if value == .missing { return }
        count += 1
        addToSum(value, 1)
        if value.isNotANumber { return }
        Self.add(value, to: &least, if: .orderedAscending)
        Self.add(value, to: &greatest, if: .orderedDescending)
    }

    mutating func remove(_ value: SectionValue) {
        if value == .missing { return }
        count -= 1
        addToSum(value, -1)
        if !value.isNotANumber {
            Self.remove(value, from: &least, isLast: count == 0)
            Self.remove(value, from: &greatest, isLast: count == 0)
        }
        if count == 0 { self = Accumulator() }
    }

    /// Adds all values of other rows.
    mutating func add(_ other: Accumulator) {
        guard other.count > 0 else { return }
        count += other.count
        whole += other.whole
        decimal.add(other.decimal)
        real.add(other.real)
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

    private mutating func addToSum(_ value: SectionValue, _ sign: Int) {
        switch value {
        case .integer(let number): whole += Int128(number) * Int128(sign)
        case .boolean(let flag): whole += flag ? Int128(sign) : 0
        case .decimal(let number): decimal.add(number, sign)
        case .real(let number): real.add(number, sign)
        default: break
        }
    }

    private static func add(_ value: SectionValue, to extreme: inout Extreme, if order: ComparisonResult) {
        // A new value does not replace a lost extreme: the remaining ones have to be searched.
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
        case .minimum: return least.times == 0 ? .missing : least.value
        case .maximum: return greatest.times == 0 ? .missing : greatest.value
        case .sum:
            switch type {
            case .decimalAttributeType: return .decimal(decimal.value)
            case .doubleAttributeType, .floatAttributeType: return .real(real.value)
            default: return Int(exactly: whole).map { .integer($0) } ?? .decimal(Self.decimal(whole))
            }
        case .average:
            if count == 0 { return .missing }
            switch type {
            case .decimalAttributeType: return .decimal(decimal.value / Decimal(count))
            case .doubleAttributeType, .floatAttributeType: return .real(real.value / Double(count))
            default: return .real(Double(whole) / Double(count))
            }
        }
    }

    private static func decimal(_ number: Int128) -> Decimal { Decimal(string: "\(number)", locale: nil) ?? .nan }
}

extension SectionValue {
    fileprivate var isNotANumber: Bool {
        switch self {
        case .real(let number): number.isNaN
        case .decimal(let number): number.isNaN
        default: false
        }
    }

    /// True if two values are equal or both NaN.
    func isSame(as other: SectionValue) -> Bool { self == other || isNotANumber && other.isNotANumber }
}

/// A sum of decimals that numbers are added to and subtracted from.
struct DecimalSum: Hashable, Sendable {
    private var sum = Decimal()
    private var notNumbers = 0
    /// True if the sum has more digits than fit.
    private var isRounded = false
    /// True if a number was subtracted from a rounded sum: it has to be added up again.
    private(set) var isLost = false

    mutating func add(_ number: Decimal, _ sign: Int) {
        if sign < 0, isRounded { isLost = true }
        if number.isNaN { notNumbers += sign } else { addNumber(sign > 0 ? number : -number) }
    }

    mutating func add(_ other: DecimalSum) {
        notNumbers += other.notNumbers
        isRounded = isRounded || other.isRounded
        addNumber(other.sum)
    }

    private mutating func addNumber(_ number: Decimal) {
        var (old, number, new) = (sum, number, Decimal())
        if NSDecimalAdd(&new, &old, &number, .plain) != .noError { isRounded = true }
        sum = new
    }

    var value: Decimal { notNumbers > 0 ? .nan : sum }
}

/// A sum of real numbers that numbers are added to and subtracted from, kept to twice the digits of its terms.
struct RealSum: Hashable, Sendable {
    /// True if digits were lost, or the sum was out of range.
    private var isRounded = false
    /// True if a number was subtracted from a rounded sum: it has to be added up again.
    private(set) var isLost = false
    private var high = 0.0
    private var low = 0.0
    // Infinities and NaN cannot be subtracted, so they are counted.
    private var infinite = 0
    private var negativeInfinite = 0
    private var notNumbers = 0

    mutating func add(_ number: Double, _ sign: Int) {
        if sign < 0, isRounded { isLost = true }
        if number.isNaN {
            notNumbers += sign
        } else if number.isInfinite {
            if number > 0 { infinite += sign } else { negativeInfinite += sign }
        } else {
            addFinite(sign > 0 ? number : -number)
        }
    }

    mutating func add(_ other: RealSum) {
        isRounded = isRounded || other.isRounded
        addFinite(other.high)
        addFinite(other.low)
        infinite += other.infinite
        negativeInfinite += other.negativeInfinite
        notNumbers += other.notNumbers
    }

    private mutating func addFinite(_ number: Double) {
        let (sum, rest) = Self.sum(high, number)
        let (lows, lost) = Self.sum(low, rest)
        (high, low) = Self.sum(sum, lows)
        if lost != 0 || !high.isFinite || !low.isFinite { isRounded = true }
    }

    /// The rounded sum of two numbers, and the exact rounding error.
    private static func sum(_ left: Double, _ right: Double) -> (sum: Double, rest: Double) {
        let sum = left + right
        // An infinite sum has no rounding error.
        guard sum.isFinite else { return (sum, 0) }
        let part = sum - left
        return (sum, (left - (sum - part)) + (right - part))
    }

    var value: Double {
        if notNumbers > 0 || infinite > 0 && negativeInfinite > 0 { return .nan }
        if infinite > 0 { return .infinity }
        if negativeInfinite > 0 { return -.infinity }
        return high + low
    }
}
