/// A predicate as a plain value: the parser's output, and the input of the evaluator and the SQL translator.
package indirect enum PredicateTree {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    case comparison(ComparisonTree)
    case and([PredicateTree])
    case or([PredicateTree])
    case not(PredicateTree)
    /// A block: it can be evaluated, but neither printed nor translated.
    case opaque(OpaquePredicate)
}

/// One comparison: two expressions, an operator, and a modifier for many values on the left.
package struct ComparisonTree {
    package var left: ExpressionTree
    package var right: ExpressionTree
    package var comparison: ComparisonOperator
    package var modifier: ComparisonModifier
    package var options: ComparisonOptions

    package init(
        left: ExpressionTree, right: ExpressionTree, comparison: ComparisonOperator,
        modifier: ComparisonModifier = .direct, options: ComparisonOptions = []
    ) {
        self.left = left
        self.right = right
        self.comparison = comparison
        self.modifier = modifier
        self.options = options
    }
}

/// The operators of a comparison, with the raw values of `NSComparisonPredicate.Operator`.
package enum ComparisonOperator: UInt, Sendable, CaseIterable {
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

/// The comparison of a to-many left side, with the raw values of `NSComparisonPredicate.Modifier`. `NONE` is `NOT ANY`.
package enum ComparisonModifier: UInt, Sendable {
    case direct = 0
    case all = 1
    case any = 2
}

/// The `[cdn]` options of string operators, with the raw values of `NSComparisonPredicate.Options`.
package struct ComparisonOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt
    package init(rawValue: UInt) { self.rawValue = rawValue }
    package static let caseInsensitive = ComparisonOptions(rawValue: 1)
    package static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
    package static let normalized = ComparisonOptions(rawValue: 4)
    /// The undocumented `[l]`: compare by the current locale's rules.
    package static let localeSensitive = ComparisonOptions(rawValue: 8)
}

/// An expression as a plain value.
package indirect enum ExpressionTree {
    /// A literal or a `%@` argument; `nil` is `NULL`. May be any object of the user.
    case constant(Any?)
    /// `SELF`.
    case evaluatedObject
    /// `$NAME`.
    case variable(String)
    /// `a.b.c`, with `@count` and the other collection operators as separate components.
    case keyPath([String])
    /// A key path taken from another expression, as in `$x.name` or `SUBQUERY(…).@count`.
    case keyPathOf(ExpressionTree, [String])
    /// A function by the selector name of `NSExpression` (`add:to:`, `uppercase:`, `now`, …).
    case function(String, [ExpressionTree])
    /// `FUNCTION(target, "selector", arguments…)`.
    case functionOn(ExpressionTree, String, [ExpressionTree])
    /// `{a, b, c}`.
    case aggregate([ExpressionTree])
    /// `SUBQUERY(collection, $variable, predicate)`.
    case subquery(ExpressionTree, variable: String, predicate: PredicateTree)
    /// `collection[index]`, `[FIRST]`, `[LAST]`, `[SIZE]`.
    case index(ExpressionTree, CollectionIndex)
    /// `TERNARY(predicate, a, b)`.
    case conditional(PredicateTree, ExpressionTree, ExpressionTree)
    /// Set algebra: `UNION`, `INTERSECT`, `MINUS`.
    case set(SetOperation, ExpressionTree, ExpressionTree)
    /// A block: it can be evaluated, but neither printed nor translated.
    case opaque(OpaqueExpression)
}

extension ExpressionTree {
    /// The function name of `FETCH(request, context, countOnly)`.
    package static let fetchFunction = "FETCH"
}

/// The index of `collection[…]`.
package indirect enum CollectionIndex {
    case first
    case last
    case size
    case value(ExpressionTree)
}

package enum SetOperation: Sendable {
    case union
    case intersect
    case minus
}

/// A predicate implemented by a closure.
package struct OpaquePredicate {
    package let evaluate: (_ object: Any?, _ variables: [String: Any]) -> Bool
    package init(evaluate: @escaping (_ object: Any?, _ variables: [String: Any]) -> Bool) { self.evaluate = evaluate }
}

/// An expression implemented by a closure.
package struct OpaqueExpression {
    package let evaluate: (_ object: Any?, _ variables: [String: Any]) -> Any?
    package init(evaluate: @escaping (_ object: Any?, _ variables: [String: Any]) -> Any?) { self.evaluate = evaluate }
}
