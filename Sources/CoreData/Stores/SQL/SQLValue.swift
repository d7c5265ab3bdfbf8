import Foundation

/// A value that is bound to a statement, or that a column holds, whatever the database.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
    case uuid(UUID)
    case decimal(Decimal)
    /// Several values of one kind at one place, where the database has such.
    case list([SQLValue])
}
