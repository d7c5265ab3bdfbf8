import Foundation

/// What a value must meet to be saved.
///
/// The limits that models usually set are kept as plain values, so that they are checked without a predicate; the public
/// API sees predicates for them too. Everything else is a predicate.
struct PropertyValidation {
    /// One condition, in the order in which the model has them.
    enum Rule {
        /// The least value allowed, and the code of the error of a lesser one.
        case minimum(SlotValue, code: Int)
        case maximum(SlotValue, code: Int)
        case minimumLength(Int)
        case maximumLength(Int)
        /// A regular expression that the whole string matches.
        case pattern(String)
        /// Any other condition; the warning is an `NSNumber` with a code, or a `String`.
        case predicate(NSPredicate, warning: Any)
    }

    private(set) var rules: [Rule] = []
    private(set) var bounds = ValueBounds()
    private(set) var lengthBounds = LengthBounds()
    private(set) var pattern: String?
    /// The conditions that are neither bounds, nor bounds of the length, nor the pattern.
    private(set) var otherConditions: [(predicate: NSPredicate, warning: Any)] = []

    init() {}

    /// - Parameter rules: At most one of each plain kind; of several the last counts.
    init(rules: [Rule]) {
        self.rules = rules
        for rule in rules {
            switch rule {
            case .minimum(let value, _): bounds.minimum = value
            case .maximum(let value, _): bounds.maximum = value
            case .minimumLength(let length): lengthBounds.minimum = length
            case .maximumLength(let length): lengthBounds.maximum = length
            case .pattern(let pattern): self.pattern = pattern
            case .predicate(let predicate, let warning): otherConditions.append((predicate, warning))
            }
        }
    }

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
