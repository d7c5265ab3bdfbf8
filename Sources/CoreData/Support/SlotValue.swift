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

    /// Whether it is NaN, for which no store has a value.
    var isNotANumber: Bool {
        switch self {
        case .real(let number): number.isNaN
        case .decimal(let number): number.decimalValue.isNaN
        default: false
        }
    }

    /// Texts are the same if their UTF-8 is, as they are in stores.
    static func == (left: SlotValue, right: SlotValue) -> Bool {
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

    func hash(into hasher: inout Hasher) {
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
