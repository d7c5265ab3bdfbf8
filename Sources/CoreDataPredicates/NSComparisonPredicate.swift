import Foundation
import PredicateSyntax

/// A comparison of two expressions. Foundation on Linux only names this class; here it is.
///
/// Immutable, and safe on any thread as far as the objects in it are.
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
        /// `MATCHES`: by a regular expression, as a whole.
        case matches = 6
        /// `LIKE`: by a pattern with `*` and `?`, as a whole.
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// `IN`: the value on the left is among those on the right, or its text within theirs.
        case `in` = 10
        /// By a method of the object. Not on Linux: there are no selectors.
        case customSelector = 11
        /// `CONTAINS`: the collection or text on the left has what is on the right.
        case contains = 99
        /// `BETWEEN`: from the first of two values up to the second.
        case between = 100
    }

    /// Whether the comparison is of the value itself, or of all or any of many values.
    public enum Modifier: UInt, Sendable {
        /// The value itself is compared.
        case direct = 0
        /// `ALL`: every one of the values on the left has to fit.
        case all = 1
        /// `ANY`: one of the values on the left has to fit.
        case any = 2
    }

    /// How texts are compared.
    public struct Options: OptionSet, Sendable {
        /// The options as bits, with Apple's values.
        public let rawValue: UInt
        /// The options of these bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// Without regard to case: `[c]`.
        public static let caseInsensitive = Options(rawValue: 1)
        /// Without regard to diacritics: `[d]`.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// The texts are normalised already, and are compared as bytes: `[n]`.
        public static let normalized = Options(rawValue: 4)
    }

    package private(set) var tree: ComparisonTree
    package let evaluator = PredicateWork.known.makeEvaluator()

    /// A comparison of what `left` and `right` give, by the operator `type`.
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

    // The other initialiser is the only designated one, or subclasses of programs would inherit none.
    package convenience init(_ tree: ComparisonTree) {
        self.init(
            leftExpression: NSExpression(tree.left), rightExpression: NSExpression(tree.right), modifier: .direct,
            type: .equalTo)
        // All of it, also what a file says that no program can make.
        self.tree = tree
    }

    /// The expression on the left of the operator.
    open var leftExpression: NSExpression { NSExpression(tree.left) }
    /// The expression on the right of the operator.
    open var rightExpression: NSExpression { NSExpression(tree.right) }
    /// The operator.
    open var predicateOperatorType: Operator { Operator(rawValue: tree.comparison.rawValue) ?? .equalTo }
    /// Whether the value itself is compared, or all or any of many values.
    open var comparisonPredicateModifier: Modifier { Modifier(rawValue: tree.modifier.rawValue) ?? .direct }
    /// How texts are compared.
    open var options: Options { Options(rawValue: tree.options.rawValue) }

    /// As the tree says, and in no way of a subclass's own.
    private var formatText: String { FormatPrinter.string(.comparison(tree)) }

    open override var predicateFormat: String { formatText }
    open override var description: String { formatText }

    open override func evaluate(with object: Any?) -> Bool {
        // A subclass may have its own way in the other method, which Foundation's calls from here.
        guard type(of: self) == NSComparisonPredicate.self else {
            return evaluate(with: object, substitutionVariables: nil)
        }
        return evaluator.holds(.comparison(tree), for: object)
    }

    /// Whether the comparison holds for `object`: a managed object, a dictionary, or any value for `SELF`.
    ///
    /// - Precondition: the functions of the predicate exist, as Apple's raises an exception otherwise.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluator.holds(.comparison(tree), for: object, variables: bindings)
    }

    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPredicate).map { FormatPrinter.string(PredicateWork.known.tree(of: $0)) == formatText } ?? false
    }

    open override var hash: Int { formatText.hash }
}
