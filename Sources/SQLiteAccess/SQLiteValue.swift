import Foundation

/// A value as SQLite knows it: what is bound to a statement and what a column holds.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}
