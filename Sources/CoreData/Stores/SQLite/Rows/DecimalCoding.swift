import Foundation
import SQLiteAccess

/// Decimals in a column of numeric affinity: integers, or otherwise the nearest double.
///
/// The column converts text that looks like a number to a double. A decimal with more digits is stored as a blob of its
/// text, which the column does not convert; other programs read the nearest double from it. SQL does not compare such
/// blobs as numbers. So the store's metadata records that there are some (``metadataKey``), and predicates and sort
/// keys on decimals are then evaluated in memory.
enum DecimalCoding {
    /// The metadata key of a store that contains a decimal stored as a blob.
    static let metadataKey = "RosterKeepsLongDecimals"

    static func decimal(at column: Int, of statement: Statement, _ kind: ColumnKind) -> NSDecimalNumber? {
        switch kind {
        case .integer: return NSDecimalNumber(decimal: Decimal(statement.integer(at: column)))
        case .real: return decimal(from: statement.real(at: column))
        case .text, .blob: return decimal(from: String(decoding: statement.data(at: column), as: UTF8.self))
        case .null: return nil
        }
    }

    /// Converts the double's shortest text, so that 9.99 is 9.99 and not its exact binary value.
    private static func decimal(from double: Double) -> NSDecimalNumber? {
        guard double.isFinite else { return double.isNaN ? NSDecimalNumber.notANumber : nil }
        return decimal(from: "\(double)")
    }

    private static func decimal(from text: String) -> NSDecimalNumber? {
        Decimal(string: text, locale: posix).map { NSDecimalNumber(decimal: $0) }
    }

    private static let posix = Locale(identifier: "en_US_POSIX")

    /// Returns the stored value: a blob if the decimal does not fit a number in SQLite.
    static func value(of number: NSDecimalNumber) -> SQLiteValue {
        let decimal = number.decimalValue
        if decimal.isNaN { return .null }
        let text = "\(decimal)"
        if let whole = Int64(text) { return .integer(whole) }
        if let double = Double(text), double.isFinite, Decimal(string: "\(double)", locale: posix) == decimal {
            return .real(double)
        }
        return .blob(Data(text.utf8))
    }
}
