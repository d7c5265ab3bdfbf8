import Foundation

/// A bound value or column value of any database.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
    case uuid(UUID)
    case decimal(Decimal)
    /// Several values of one kind in one argument, if the database has lists.
    case list([SQLValue])
}
