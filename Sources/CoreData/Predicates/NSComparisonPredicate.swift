import Foundation
import PredicateSyntax

/// A comparison of two expressions. Foundation on Linux only names this class; here it is.
///
/// In a file that imports Foundation as well, the name alone is ambiguous as a type: write `CoreData.NSComparisonPredicate`.
open class NSComparisonPredicate: NSPredicate {
    /// The operators, with Apple's raw values.
    public enum Operator: UInt, Sendable {
        case lessThan = 0
        case lessThanOrEqualTo = 1
        case greaterThan = 2
        case greaterThanOrEqualTo = 3
        case equalTo = 4
        case notEqualTo = 5
        case matches = 6
        case like = 7
        case beginsWith = 8
        case endsWith = 9
        case `in` = 10
        case customSelector = 11
        case contains = 99
        case between = 100
    }

    /// Whether the comparison is of the value itself, or of all or any of many values.
    public enum Modifier: UInt, Sendable {
        case direct = 0
        case all = 1
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

    private(set) var tree: ComparisonTree
    let evaluator = LazyEvaluator()

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
    convenience init(_ tree: ComparisonTree) {
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

    open override var predicateFormat: String { FormatPrinter.string(.comparison(tree)) }
    open override var description: String { FormatPrinter.string(.comparison(tree)) }

    open override func evaluate(with object: Any?) -> Bool {
        // A subclass may have its own way in the other method, which Foundation's calls from here.
        guard type(of: self) == NSComparisonPredicate.self else {
            return evaluate(with: object, substitutionVariables: nil)
        }
        return evaluator.evaluateKnown(object) ?? evaluator.evaluate(.comparison(tree), with: object, variables: nil)
    }

    /// Whether the comparison holds for `object`: a managed object, a dictionary, or any value for `SELF`.
    ///
    /// - Precondition: the functions of the predicate exist, as Apple's raises an exception otherwise.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluator.evaluate(.comparison(tree), with: object, variables: bindings)
    }

    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPredicate).map { $0.formatString == formatString } ?? false
    }

    open override var hash: Int { formatString.hash }
}
