import Foundation
import PredicateSyntax

// `#Predicate` allows these text methods, but Foundation has their nodes only on Apple's systems. The macro refers to
// the functions below by their names in `PredicateExpressions`.
extension PredicateExpressions {
    /// `root.localizedStandardContains(other)` in a `#Predicate`. A value, safe on any thread if its parts are.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The result of the method.
        public typealias Output = Bool
        /// The text to search in.
        public let root: Root
        /// The text to search for.
        public let other: Other

        /// True if the text contains the other one, ignoring case and diacritics.
        ///
        /// - Throws: the error of evaluating `root` or `other`, such as a `PredicateError` for an unbound variable.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try root.evaluate(bindings).localizedStandardContains(try other.evaluate(bindings))
        }
    }

    /// `root.caseInsensitiveCompare(other)` in a `#Predicate`. A value, safe on any thread if its parts are.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The result of the method.
        public typealias Output = ComparisonResult
        /// The text on the left.
        public let root: Root
        /// The text on the right.
        public let other: Other

        /// The order of the two texts, ignoring case.
        ///
        /// - Throws: the error of evaluating `root` or `other`, such as a `PredicateError` for an unbound variable.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).caseInsensitiveCompare(try other.evaluate(bindings))
        }
    }

    /// `root.localizedCompare(other)` in a `#Predicate`. A value, safe on any thread if its parts are.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The result of the method.
        public typealias Output = ComparisonResult
        /// The text on the left.
        public let root: Root
        /// The text on the right.
        public let other: Other

        /// The order of the two texts by the rules of the current locale.
        ///
        /// - Throws: the error of evaluating `root` or `other`, such as a `PredicateError` for an unbound variable.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).localizedCompare(try other.evaluate(bindings))
        }
    }

    /// Builds the node for `root.localizedStandardContains(other)`; called by `#Predicate`. On any thread.
    public static func build_localizedStandardContains<Root, Other>(_ root: Root, _ other: Other)
        -> StringLocalizedStandardContains<Root, Other>
    { StringLocalizedStandardContains(root: root, other: other) }

    /// Builds the node for `root.caseInsensitiveCompare(other)`; called by `#Predicate`. On any thread.
    public static func build_caseInsensitiveCompare<Root, Other>(_ root: Root, _ other: Other)
        -> StringCaseInsensitiveCompare<Root, Other>
    { StringCaseInsensitiveCompare(root: root, other: other) }

    /// Builds the node for `root.localizedCompare(other)`; called by `#Predicate`. On any thread.
    public static func build_localizedCompare<Root, Other>(_ root: Root, _ other: Other)
        -> StringLocalizedCompare<Root, Other>
    { StringLocalizedCompare(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Encodable where Root: Encodable, Other: Encodable {}
extension PredicateExpressions.StringLocalizedStandardContains: Decodable where Root: Decodable, Other: Decodable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Encodable where Root: Encodable, Other: Encodable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Decodable where Root: Decodable, Other: Decodable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Encodable where Root: Encodable, Other: Encodable {}
extension PredicateExpressions.StringLocalizedCompare: Decodable where Root: Decodable, Other: Decodable {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let options: ComparisonOptions = [.caseInsensitive, .diacriticInsensitive]
        return .condition(.compare(try translation.value(root), .contains, try translation.value(other), options))
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .order(try translation.value(root), try translation.value(other), .caseInsensitive)
    }
}

extension PredicateExpressions.StringLocalizedCompare: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .order(try translation.value(root), try translation.value(other), .localeSensitive)
    }
}

extension PredicateExpressions.StringContainsRegex: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        guard let regex = (regex as? any ConstantRegex)?.pattern else {
            throw SwiftPredicateTranslation.unsupported("a regular expression that is not a literal")
        }
        return .condition(.compare(try translation.value(subject), .matches, .constant("(?s).*(?:\(regex)).*")))
    }
}

private protocol ConstantRegex { var pattern: String? { get } }

extension PredicateExpressions.Value: ConstantRegex {
    fileprivate var pattern: String? { (value as? PredicateExpressions.PredicateRegex)?.stringRepresentation }
}
