import Foundation

/// Arithmetic with SQLite's rules, so that both evaluators agree. Integers that overflow become real, and integer
/// division truncates. The result is `nil` after a division by zero, for NaN, and if an operand is not a number.
/// Decimals with each other and with integers stay decimals.
enum Arithmetic {
    static func add(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        calculate(left, right, { $0.addingReportingOverflow($1) }, +, { $0 + $1 })
    }

    static func subtract(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        calculate(left, right, { $0.subtractingReportingOverflow($1) }, -, { $0 - $1 })
    }

    static func multiply(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        calculate(left, right, { $0.multipliedReportingOverflow(by: $1) }, *, { $0 * $1 })
    }

    static func divide(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        if right.number?.double == 0 { return .null }
        return calculate(left, right, { $0.dividedReportingOverflow(by: $1) }, /, { $0 / $1 })
    }

    /// The remainder of a division, with the sign of the dividend.
    static func modulus(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        guard let left = left.number, let right = right.number, right.double != 0 else { return .null }
        if case .integer(let left) = left, case .integer(let right) = right {
            return .integer(right == -1 ? 0 : left % right)
        }
        return real(fmod(left.double, right.double))
    }

    /// An integer if both operands and the result are integers, else a real.
    static func raise(_ base: PredicateValue, _ exponent: PredicateValue) -> PredicateValue {
        guard let base = base.number, let exponent = exponent.number else { return .null }
        if case .integer(let base) = base, case .integer(let exponent) = exponent, 0...64 ~= exponent {
            var result: Int64 = 1
            var overflows = false
            for _ in 0..<exponent where !overflows {
                (result, overflows) = result.multipliedReportingOverflow(by: base)
            }
            if !overflows { return .integer(result) }
        }
        return real(pow(base.double, exponent.double))
    }

    static func negate(_ value: PredicateValue) -> PredicateValue { subtract(.integer(0), value) }

    static func absolute(_ value: PredicateValue) -> PredicateValue {
        switch value {
        case .decimal(let decimal): .decimal(abs(decimal))
        case .integer(let number): number < 0 ? negate(value) : value
        default: value.number.map { real(abs($0.double)) } ?? .null
        }
    }

    // MARK: Bits

    static func and(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue { bits(left, right, &) }
    static func or(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue { bits(left, right, |) }
    static func xor(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue { bits(left, right, ^) }
    /// Shifts like SQLite, as Swift's smart shifts do: a negative count shifts in the other direction, and the sign is
    /// kept.
    static func shiftLeft(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue { bits(left, right, <<) }
    static func shiftRight(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue { bits(left, right, >>) }

    static func complement(_ value: PredicateValue) -> PredicateValue {
        guard case .integer(let number) = value else { return .null }
        return .integer(~number)
    }

    private static func bits(
        _ left: PredicateValue, _ right: PredicateValue, _ operation: (Int64, Int64) -> Int64
    ) -> PredicateValue {
        guard case .integer(let left) = left, case .integer(let right) = right else { return .null }
        return .integer(operation(left, right))
    }

    // MARK: The four operations

    private static func calculate(
        _ left: PredicateValue, _ right: PredicateValue, _ integers: (Int64, Int64) -> (Int64, Bool),
        _ reals: (Double, Double) -> Double, _ decimals: (Decimal, Decimal) -> Decimal
    ) -> PredicateValue {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            let (result, overflows) = integers(left, right)
            return overflows ? real(reals(Double(left), Double(right))) : .integer(result)
        case (.decimal(let left), .decimal(let right)): return decimal(decimals(left, right))
        case (.decimal(let left), .integer(let right)): return decimal(decimals(left, Decimal(right)))
        case (.integer(let left), .decimal(let right)): return decimal(decimals(Decimal(left), right))
        default:
            guard let left = left.number, let right = right.number else { return .null }
            return real(reals(left.double, right.double))
        }
    }

    static func real(_ number: Double) -> PredicateValue { number.isNaN ? .null : .real(number) }
    private static func decimal(_ number: Decimal) -> PredicateValue { number.isNaN ? .null : .decimal(number) }
}
