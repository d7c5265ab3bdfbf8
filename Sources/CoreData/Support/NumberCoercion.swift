import Foundation

/// Converts numbers of any type to the number types of attributes, and back to `NSNumber`s.
enum NumberCoercion {
    /// The integer part of a number; `nil` if the value is not a finite number within 64 bits.
    static func integer(_ value: Any) -> Int64? {
        // A cast to a Swift number would truncate a decimal number.
        if type(of: value) is AnyClass { return (value as? NSNumber).flatMap(integer(of:)) }
        switch value {
        case let number as Int: return Int64(number)
        case let number as Int64: return number
        case let number as Int32: return Int64(number)
        case let number as Int16: return Int64(number)
        case let flag as Bool: return flag ? 1 : 0
        case let number as Double: return integer(ofReal: number)
        case let number as Decimal: return integer(of: number)
        case let number as any BinaryInteger: return Int64(exactly: number)
        case let number as any BinaryFloatingPoint: return integer(ofReal: Double(number))
        default: return nil
        }
    }

    static func real(_ value: Any) -> Double? {
        if type(of: value) is AnyClass { return (value as? NSNumber).flatMap(real(of:)) }
        switch value {
        case let number as Double: return number
        case let number as Int: return Double(number)
        case let number as Float: return Double(number)
        case let flag as Bool: return flag ? 1 : 0
        case let number as Decimal: return real(of: number)
        case let number as any BinaryInteger: return Double(number)
        case let number as any BinaryFloatingPoint: return Double(number)
        default: return nil
        }
    }

    static func decimal(_ value: Any) -> NSDecimalNumber? {
        switch value {
        case let number as NSDecimalNumber: return number
        case let number as Decimal: return NSDecimalNumber(decimal: number)
        case let number as NSNumber:
            let isReal = realTypes.contains(UInt8(bitPattern: number.objCType.pointee))
            return isReal ? decimal(ofReal: number.doubleValue) : whole(number.stringValue)
        case let flag as Bool: return NSDecimalNumber(value: flag ? 1 : 0)
        case let number as any BinaryInteger: return whole("\(number)")
        case let number as any BinaryFloatingPoint: return decimal(ofReal: Double(number))
        default: return nil
        }
    }

    private static let realTypes: Set<UInt8> = [UInt8(ascii: "d"), UInt8(ascii: "f")]

    /// Converts by the digits, because Foundation rounds 64-bit numbers.
    private static func whole(_ digits: String) -> NSDecimalNumber? {
        Decimal(string: digits).map { NSDecimalNumber(decimal: $0) }
    }

    /// Converts by the digits: Foundation turns 5848503429 into 5848503428.999999488.
    ///
    /// - Returns: `nil` if a decimal number cannot hold the number. Foundation stops at infinity, and returns NaN for
    ///   others.
    private static func decimal(ofReal number: Double) -> NSDecimalNumber? {
        if number.isNaN { return .notANumber }
        guard number.magnitude < 1e165 else { return nil }
        let decimal = Decimal(string: "\(number)") ?? Decimal(number)
        return decimal.isNaN ? .zero : NSDecimalNumber(decimal: decimal)
    }

    private static func real(of number: NSNumber) -> Double? {
        (number as? NSDecimalNumber).map { real(of: $0.decimalValue) } ?? number.doubleValue
    }

    /// The nearest double, by the digits. Foundation may return its neighbour.
    private static func real(of number: Decimal) -> Double? { Double("\(number)") }

    private static func integer(ofReal number: Double) -> Int64? {
        guard number.isFinite else { return nil }
        return Int64(exactly: number.rounded(.towardZero))
    }

    private static func integer(of number: Decimal) -> Int64? {
        var (number, whole) = (number, Decimal())
        NSDecimalRound(&whole, &number, 0, number < 0 ? .up : .down)
        return whole.isNaN ? nil : Int64("\(whole)")
    }

    private static func integer(of number: NSNumber) -> Int64? {
        if let number = number as? NSDecimalNumber { return integer(of: number.decimalValue) }
        return switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): integer(ofReal: number.doubleValue)
        case UInt8(ascii: "Q"): Int64(exactly: number.uint64Value)
        default: number.int64Value
        }
    }

    // MARK: Boxing

    /// A Swift number as an `NSNumber`; any other value unchanged.
    static func boxed(_ value: Any) -> Any {
        // A cast to a Swift number would truncate a decimal number.
        if type(of: value) is AnyClass { return value }
        return switch value {
        case let flag as Bool where type(of: value) == Bool.self: boolean(flag)
        case let number as any FixedWidthInteger & SignedInteger: NSNumber(value: Int64(number))
        case let number as UInt64: NSNumber(value: number)
        case let number as any FixedWidthInteger: NSNumber(value: UInt64(number))
        case let number as Float: NSNumber(value: number)
        case let number as Double: NSNumber(value: number)
        default: value
        }
    }

    /// A number as an object; small ones are cached.
    static func number(_ value: Int64) -> NSNumber {
        if let index = Int(exactly: value &- smallest), small.indices.contains(index) { return small[index] }
        return NSNumber(value: value)
    }

    static func boolean(_ value: Bool) -> NSNumber { value ? yes : no }

    private static let smallest: Int64 = -16
    private static let small: [NSNumber] = (smallest...1023).map { NSNumber(value: $0) }
    private static let yes = NSNumber(value: true)
    private static let no = NSNumber(value: false)
}
