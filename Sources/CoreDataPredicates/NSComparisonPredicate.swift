import Foundation
import PredicateSyntax

/// A comparison of two expressions. Foundation on Linux only declares the name of this class.
///
/// Immutable, and safe on any thread if the objects in it are.
open class NSComparisonPredicate: NSPredicate {
    /// The operators, with Apple's raw values.
    public enum Operator: UInt, Sendable {
        /// `<`
        case lessThan = 0
        /// `<=`
        case lessThanOrEqualTo = 1
        /// `>`
        case greaterThan = 2
        /// `>=`
        case greaterThanOrEqualTo = 3
        /// `==`
        case equalTo = 4
        /// `!=`
        case notEqualTo = 5
        /// `MATCHES`: the whole text matches a regular expression.
        case matches = 6
        /// `LIKE`: the whole text matches a pattern with `*` and `?`.
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// `IN`: the value on the left is an element of the collection on the right, or is a part of the text on the
        /// right.
        case `in` = 10
        /// Compares by a method of the object. Not supported on Linux, which has no selectors.
        case customSelector = 11
        /// `CONTAINS`: the collection or text on the left contains the value on the right.
        case contains = 99
        /// `BETWEEN`: from the first of two values up to the second.
        case between = 100
    }

    /// Specifies the comparison of a single value, or of all or any of many values.
    public enum Modifier: UInt, Sendable {
        /// Compares the value itself.
        case direct = 0
        /// `ALL`: every value on the left has to match.
        case all = 1
        /// `ANY`: at least one value on the left has to match.
        case any = 2
    }

    /// Options for comparing texts.
    public struct Options: OptionSet, Sendable {
        /// The options as bits, with Apple's values.
        public let rawValue: UInt
        /// Creates options from bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// Ignores case: `[c]`.
        public static let caseInsensitive = Options(rawValue: 1)
        /// Ignores diacritics: `[d]`.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// Compares bytes, since the texts are already normalised: `[n]`.
        public static let normalized = Options(rawValue: 4)
    }

    package private(set) var tree: ComparisonTree
    package let evaluator = PredicateWork.known.makeEvaluator()

    /// Compares the values of `left` and `right` with the operator `type`.
    ///
    /// - Precondition: `type` is not `customSelector`: there are no selectors on Linux.
    public init(
        leftExpression left: NSExpression, rightExpression right: NSExpression, modifier: Modifier, type: Operator,
        options: Options = []
    ) {
        precondition(type != .customSelector, "comparisons by a selector do not exist without Objective-C")
        tree = ComparisonTree(
            left: left.tree, right: right.tree, comparison: ComparisonOperator(rawValue: type.rawValue) ?? .equalTo,
            modifier: ComparisonModifier(rawValue: modifier.rawValue) ?? .direct,
            options: ComparisonOptions(rawValue: options.rawValue))
        super.init(value: false)
    }

    // Not designated: subclasses in programs inherit the other initialiser only if it is the single designated one.
    package convenience init(_ tree: ComparisonTree) {
        self.init(
            leftExpression: NSExpression(tree.left), rightExpression: NSExpression(tree.right), modifier: .direct,
            type: .equalTo)
        // The whole tree, including parts of a file that programs cannot create.
        self.tree = tree
    }

    /// The expression on the left of the operator.
    open var leftExpression: NSExpression { NSExpression(tree.left) }
    /// The expression on the right of the operator.
    open var rightExpression: NSExpression { NSExpression(tree.right) }
    /// The operator.
    open var predicateOperatorType: Operator { Operator(rawValue: tree.comparison.rawValue) ?? .equalTo }
    /// Specifies if the value itself is compared, or all or any of many values.
    open var comparisonPredicateModifier: Modifier { Modifier(rawValue: tree.modifier.rawValue) ?? .direct }
    /// The options for comparing texts.
    open var options: Options { Options(rawValue: tree.options.rawValue) }

    /// The text of the tree, regardless of overrides in a subclass.
    private var formatText: String { FormatPrinter.string(.comparison(tree)) }

    open override var predicateFormat: String { formatText }
    open override var description: String { formatText }

    open override func evaluate(with object: Any?) -> Bool {
        // A subclass may override the other method, which Foundation's implementation calls from here.
        guard type(of: self) == NSComparisonPredicate.self else {
            return evaluate(with: object, substitutionVariables: nil)
        }
        return evaluator.holds(.comparison(tree), for: object)
    }

    /// True if the comparison holds for `object`: a managed object, a dictionary, or any value for `SELF`.
    ///
    /// - Precondition: the functions of the predicate exist; Apple's framework raises an exception otherwise.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluator.holds(.comparison(tree), for: object, variables: bindings)
    }

    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPredicate).map { FormatPrinter.string(PredicateWork.known.tree(of: $0)) == formatText } ?? false
    }

    open override var hash: Int { formatText.hash }
}
