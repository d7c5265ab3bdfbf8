import Foundation

/// What a value must meet to be saved: predicates, and for each of them a code or a message.
struct PropertyValidation {
    /// The predicates in full, as the public getter gives them.
    var predicates: [NSPredicate] = []
    /// An `NSNumber` or a `String` for each of the predicates.
    var warnings: [Any] = []

    /// The form in which a warning is kept: a text that is a number of the validation range becomes that code.
    static func warning(_ text: String) -> Any {
        guard let code = Int(text), (1024...2047).contains(code) else { return text }
        return NSNumber(value: code)
    }
}

/// The limits of an attribute's value in the form in which they are checked, without a predicate.
struct ValueBounds: Hashable, Sendable {
    /// The least value allowed: `integer` for integers, `real` for doubles, floats and dates (seconds since 2001),
    /// `decimal` for decimals.
    var minimum: SlotValue?
    /// The greatest value allowed, in the same form.
    var maximum: SlotValue?

    var isEmpty: Bool { minimum == nil && maximum == nil }
}

/// The limits of a string's length, in UTF-16 code units as `NSString.length` counts.
struct LengthBounds: Hashable, Sendable {
    var minimum: Int?
    var maximum: Int?

    var isEmpty: Bool { minimum == nil && maximum == nil }
}
