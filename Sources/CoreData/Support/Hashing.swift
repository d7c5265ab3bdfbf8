import Foundation

/// Whether a value may be asked for its hash, and a key or a member in the place of a decimal number, which may not.
package enum Hashing {
    /// The classes whose hash calls itself in Foundation on Linux (seen with Swift 6.3.1) until the stack is full.
    static let endlessClassNames: Set = ["NSError", "NSDecimalNumber", "NSDecimalNumberPlaceholder"]

    /// Whether an object may be a member of a set or a key.
    static func isSafe(_ object: Any) -> Bool {
        !(object is NSError || object is NSDecimalNumber && !(object is HashableDecimalNumber))
    }

    /// A value as a key: a decimal number by its value. `nil` where it has no hash.
    package static func key(_ value: Any) -> AnyHashable? {
        if let number = value as? NSDecimalNumber { return AnyHashable(number.decimalValue) }
        return isSafe(value) ? value as? AnyHashable : nil
    }

    /// A value as a member of one of Foundation's sets.
    static func member(_ value: Any) -> Any {
        guard let number = value as? NSDecimalNumber else { return value }
        return HashableDecimalNumber(decimal: number.decimalValue)
    }
}

/// A decimal number whose hash comes to an end: that of the number nearest to it, since numbers of other types are equal to it.
// SAFETY: has nothing that changes.
private final class HashableDecimalNumber: NSDecimalNumber, @unchecked Sendable {
    override var hash: Int { NSNumber(value: doubleValue).hash }

    override init(decimal: Decimal) { super.init(decimal: decimal) }

    // Foundation wants these of each subclass.
    required init?(coder: NSCoder) { super.init(coder: coder) }
    required init(floatLiteral value: Double) { super.init(decimal: Decimal(value)) }
    required init(booleanLiteral value: Bool) { super.init(decimal: value ? 1 : 0) }
    required init(integerLiteral value: Int) { super.init(decimal: Decimal(value)) }
    // SAFETY: only handed on.
    required convenience init(bytes buffer: UnsafeRawPointer, objCType type: UnsafePointer<Int8>) {
        self.init(decimal: NSNumber(bytes: buffer, objCType: type).decimalValue)
    }
}
