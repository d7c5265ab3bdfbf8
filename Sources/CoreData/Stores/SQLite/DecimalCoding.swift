import Foundation
import SQLiteAccess

/// Decimals in a column of numeric affinity: whole numbers as integers, others as the nearest double.
///
/// The column cannot keep more: SQLite turns text that reads as a number into a double there. So a decimal of more than
/// about 15 digits comes back as the shortest decimal of its double.
enum DecimalCoding {
    static func decimal(at column: Int, of statement: Statement, _ kind: ColumnKind) -> NSDecimalNumber? {
        switch kind {
        case .integer: return NSDecimalNumber(decimal: Decimal(statement.integer(at: column)))
        case .real: return decimal(from: statement.real(at: column))
        case .text, .blob: return Decimal(string: statement.text(at: column)).map { NSDecimalNumber(decimal: $0) }
        case .null: return nil
        }
    }

    /// By way of the shortest text of the double: 9.99 is 9.99, and not its binary neighbour written out.
    private static func decimal(from double: Double) -> NSDecimalNumber? {
        guard double.isFinite else { return double.isNaN ? NSDecimalNumber.notANumber : nil }
        return Decimal(string: "\(double)", locale: Locale(identifier: "en_US_POSIX")).map {
            NSDecimalNumber(decimal: $0)
        }
    }

    static func value(of number: NSDecimalNumber) -> SQLiteValue {
        let decimal = number.decimalValue
        if decimal.isNaN { return .null }
        let text = "\(decimal)"
        if let whole = Int64(text) { return .integer(whole) }
        return .real(Double(text) ?? number.doubleValue)
    }
}
