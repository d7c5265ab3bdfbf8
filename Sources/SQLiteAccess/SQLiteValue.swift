import Foundation

/// A value of SQLite: an argument of a statement or the value of a column.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}
