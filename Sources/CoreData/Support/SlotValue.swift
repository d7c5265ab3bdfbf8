import Foundation

/// The framework's representation of one property value of one row.
///
/// Numbers and Booleans are `integer` or `real` by their attribute's type. A date is `real`, in seconds since
/// 2001-01-01, as in the file. A URI is `text`. An unset value of any type is `null`.
// SAFETY: a value; neither the framework nor its users may change the objects in it.
package enum SlotValue: Hashable, @unchecked Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(Data)
    case uuid(UUID)
    case decimal(NSDecimalNumber)
    /// A transformable or composite value, as it was set. Compared with `isEqual`.
    case object(NSObject)
    /// The destination of a to-one relationship.
    case reference(NSManagedObjectID)

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// True if the value is NaN, which stores cannot represent.
    var isNotANumber: Bool {
        switch self {
        case .real(let number): number.isNaN
        case .decimal(let number): number.decimalValue.isNaN
        default: false
        }
    }

    /// Texts are equal if their UTF-8 is equal, as in stores.
    package static func == (left: SlotValue, right: SlotValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): TextBytes.areEqual(left, right)
        case (.data(let left), .data(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number)
        case .text(let text): TextBytes.hash(text, into: &hasher)
        case .data(let data): hasher.combine(data)
        case .uuid(let id): hasher.combine(id)
        case .decimal(let number): hasher.combine(number.decimalValue)
        case .object(let object): if Hashing.isSafe(object) { hasher.combine(object) }
        case .reference(let id): hasher.combine(id)
        }
    }
}
