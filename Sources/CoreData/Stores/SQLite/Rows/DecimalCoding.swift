import Foundation
import SQLiteAccess

/// Decimals in a column of numeric affinity: whole numbers as integers, others as the nearest double.
///
/// The column turns text that reads as a number into a double. A decimal of more digits than a double has is kept as the
/// bytes of its text instead, which the column leaves alone; other programs read the nearest double from it. SQL does not
/// compare such bytes as numbers, so the store's metadata say that it has some (``metadataKey``), and predicates and sort
/// keys on decimals are evaluated in memory.
enum DecimalCoding {
    /// In the metadata of a store that has a decimal of that kind.
    static let metadataKey = "RosterKeepsLongDecimals"

    static func decimal(at column: Int, of statement: Statement, _ kind: ColumnKind) -> NSDecimalNumber? {
        switch kind {
        case .integer: return NSDecimalNumber(decimal: Decimal(statement.integer(at: column)))
        case .real: return decimal(from: statement.real(at: column))
        case .text, .blob: return decimal(from: String(decoding: statement.data(at: column), as: UTF8.self))
        case .null: return nil
        }
    }

    /// By way of the shortest text of the double: 9.99 is 9.99, and not its binary neighbour written out.
    private static func decimal(from double: Double) -> NSDecimalNumber? {
        guard double.isFinite else { return double.isNaN ? NSDecimalNumber.notANumber : nil }
        return decimal(from: "\(double)")
    }

    private static func decimal(from text: String) -> NSDecimalNumber? {
        Decimal(string: text, locale: posix).map { NSDecimalNumber(decimal: $0) }
    }

    private static let posix = Locale(identifier: "en_US_POSIX")

    /// A blob for a decimal that no number of SQLite's can hold.
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
