import Foundation
import PredicateSyntax

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

    /// All conditions as predicates, which are evaluated with the value itself. Made anew at each call.
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

    /// For each of the predicates the code of its error as an `NSNumber`, or a message.
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

    /// A limit as people get it; the codes of dates tell seconds from other fractions.
    private static func constant(_ value: SlotValue, code: Int) -> Any? {
        switch value {
        case .integer(let number): NSNumber(value: number)
        case .real(let seconds) where code == 1630 || code == 1640: Date(timeIntervalSinceReferenceDate: seconds)
        case .real(let number): NSNumber(value: number)
        case .decimal(let number): number
        default: nil
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
