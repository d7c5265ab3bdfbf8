import Foundation
import PredicateSyntax

/// The conditions that a value must meet to be saved.
///
/// The usual limits are kept as plain values and checked without a predicate; the public API presents them as
/// predicates. Every other condition is a predicate.
struct PropertyValidation {
    /// One condition, in the model's order.
    enum Rule {
        /// The minimum, and the error code for a smaller value.
        case minimum(SlotValue, code: Int)
        case maximum(SlotValue, code: Int)
        case minimumLength(Int)
        case maximumLength(Int)
        /// A regular expression that the whole string must match.
        case pattern(String)
        /// Any other condition. The warning is an `NSNumber` with a code, or a `String`.
        case predicate(NSPredicate, warning: Any)
    }

    private(set) var rules: [Rule] = []
    private(set) var bounds = ValueBounds()
    private(set) var lengthBounds = LengthBounds()
    private(set) var pattern: String?
    /// The conditions other than bounds, length bounds and the pattern.
    private(set) var otherConditions: [(predicate: NSPredicate, warning: Any)] = []

    init() {}

    /// - Parameter rules: at most one of each plain kind; the last of several counts.
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

    /// All conditions as predicates, evaluated with the value itself. Created at each call.
    var predicates: [NSPredicate] {
        rules.map { rule in
            switch rule {
            case .minimum(let value, let code):
                Self.predicate(.evaluatedObject, .greaterThanOrEqualTo, Self.constant(value, code: code))
            case .maximum(let value, let code):
                Self.predicate(.evaluatedObject, .lessThanOrEqualTo, Self.constant(value, code: code))
            case .minimumLength(let length): Self.predicate(.keyPath(["length"]), .greaterThanOrEqualTo, length)
            case .maximumLength(let length): Self.predicate(.keyPath(["length"]), .lessThanOrEqualTo, length)
            case .pattern(let pattern): Self.predicate(.evaluatedObject, .matches, pattern)
            case .predicate(let predicate, _): predicate
            }
        }
    }

    /// For each predicate, its error code as an `NSNumber`, or a message.
    var warnings: [Any] {
        rules.map { rule in
            switch rule {
            case .minimum(_, let code), .maximum(_, let code): NSNumber(value: code)
            case .minimumLength: NSNumber(value: 1670)
            case .maximumLength: NSNumber(value: 1660)
            case .pattern: NSNumber(value: 1680)
            case .predicate(_, let warning): warning
            }
        }
    }

    private static func predicate(
        _ left: ExpressionTree, _ comparison: ComparisonOperator, _ value: Any?
    ) -> NSPredicate {
        NSPredicate.make(.comparison(ComparisonTree(left: left, right: .constant(value), comparison: comparison)))
    }

    /// A limit as a public value. For dates, the code distinguishes seconds from other numbers.
    private static func constant(_ value: SlotValue, code: Int) -> Any? {
        switch value {
        case .integer(let number): NSNumber(value: number)
        case .real(let seconds) where code == 1630 || code == 1640: Date(timeIntervalSinceReferenceDate: seconds)
        case .real(let number): NSNumber(value: number)
        case .decimal(let number): number
        default: nil
        }
    }

    /// A warning in its stored form: a text with a number of the validation range becomes that code.
    static func warning(_ text: String) -> Any {
        guard let code = Int(text), (1024...2047).contains(code) else { return text }
        return NSNumber(value: code)
    }
}

/// The limits of an attribute's value, checked without a predicate.
struct ValueBounds: Hashable, Sendable {
    /// The minimum: `integer` for integers, `real` for doubles, floats and dates (seconds since 2001), `decimal` for
    /// decimals.
    var minimum: SlotValue?
    /// The maximum, in the same form.
    var maximum: SlotValue?

    var isEmpty: Bool { minimum == nil && maximum == nil }
}

/// The limits of a string's length, in UTF-16 code units like `NSString.length`.
struct LengthBounds: Hashable, Sendable {
    var minimum: Int?
    var maximum: Int?

    var isEmpty: Bool { minimum == nil && maximum == nil }
}
