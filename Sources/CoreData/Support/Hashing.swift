import Foundation

/// Checks for values with a usable hash, and replacements for decimal numbers, which have none.
package enum Hashing {
    /// Classes whose hash recurses without end in Foundation on Linux (seen with Swift 6.3.1).
    static let endlessClassNames: Set = ["NSError", "NSDecimalNumber", "NSDecimalNumberPlaceholder"]

    /// True if an object may be a dictionary key or a member of a set.
    static func isSafe(_ object: Any) -> Bool {
        !(object is NSError || object is NSDecimalNumber && !(object is HashableDecimalNumber))
    }

    /// A value as a key; a decimal number is compared by its value. `nil` if the value has no usable hash.
    package static func key(_ value: Any) -> AnyHashable? {
        if let number = value as? NSDecimalNumber { return AnyHashable(number.decimalValue) }
        return isSafe(value) ? value as? AnyHashable : nil
    }

    /// A value as a member of a Foundation set.
    static func member(_ value: Any) -> Any {
        guard let number = value as? NSDecimalNumber else { return value }
        return HashableDecimalNumber(decimal: number.decimalValue)
    }
}

/// A decimal number with a finite hash: that of the nearest double, because it may equal numbers of other types.
// SAFETY: has no mutable state.
private final class HashableDecimalNumber: NSDecimalNumber, @unchecked Sendable {
    override var hash: Int { NSNumber(value: doubleValue).hash }

    override init(decimal: Decimal) { super.init(decimal: decimal) }

    // Foundation requires these in each subclass.
    required init?(coder: NSCoder) { super.init(coder: coder) }
    required init(floatLiteral value: Double) { super.init(decimal: Decimal(value)) }
    required init(booleanLiteral value: Bool) { super.init(decimal: value ? 1 : 0) }
    required init(integerLiteral value: Int) { super.init(decimal: Decimal(value)) }
    // SAFETY: only passed on.
    required convenience init(bytes buffer: UnsafeRawPointer, objCType type: UnsafePointer<Int8>) {
        self.init(decimal: NSNumber(bytes: buffer, objCType: type).decimalValue)
    }
}
