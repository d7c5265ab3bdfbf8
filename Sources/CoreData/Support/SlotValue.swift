import Foundation

/// One value of one property of one row, in the form in which the framework keeps it.
///
/// Numbers and Booleans are `integer` or `real` by their attribute's type; a date is `real`: seconds since 2001-01-01,
/// which is also what the file holds. A URI is `text`. An unset value is `null`, whatever the type.
// SAFETY: a value; objects in it are never changed by the framework, and users may not change them either.
enum SlotValue: Hashable, @unchecked Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(Data)
    case uuid(UUID)
    case decimal(NSDecimalNumber)
    /// A transformable or composite value, as its owner set it. Compared with `isEqual`.
    case object(NSObject)
    /// The destination of a to-one relationship.
    case reference(NSManagedObjectID)

    var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}
