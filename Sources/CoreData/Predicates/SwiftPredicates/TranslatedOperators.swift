import Foundation
import PredicateSyntax

// Translates Boolean operators, comparisons and arithmetic.

extension PredicateExpressions.Conjunction: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .condition(.and([try translation.predicate(lhs), try translation.predicate(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .condition(.or([try translation.predicate(lhs), try translation.predicate(rhs)]))
    }
}

extension PredicateExpressions.Negation: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .condition(.not(try translation.predicate(wrapped)))
    }
}

extension PredicateExpressions.Equal: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .condition(try translation.equality(lhs, rhs))
    }
}

extension PredicateExpressions.NotEqual: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        switch try translation.equality(lhs, rhs) {
        case .comparison(var comparison) where comparison.comparison == .equalTo:
            comparison.comparison = .notEqualTo
            return .condition(.comparison(comparison))
        case let equality: return .condition(.not(equality))
        }
    }
}

extension SwiftPredicateTranslation {
    /// Returns the comparison of two nodes for equality. A condition compared with a constant remains a condition.
    fileprivate func equality(_ left: Any, _ right: Any) throws -> PredicateTree {
        if let order = try orderOfTexts(left, right) ?? orderOfTexts(right, left) { return order }
        if let condition = try condition(left, is: right) ?? condition(right, is: left) { return condition }
        return .equal(try value(left), try value(right))
    }

    private func condition(_ node: Any, is constant: Any) throws -> PredicateTree? {
        guard case .condition(let tree, let isNil) = try translate(node),
            case .value(.constant(let expected as Bool)) = try translate(constant)
        else { return nil }
        guard let isNil else { return expected ? tree : .not(tree) }
        return .and([.not(isNil), expected ? tree : .not(tree)])
    }

    /// `a.caseInsensitiveCompare(b) == .orderedSame` and similar comparisons.
    private func orderOfTexts(_ node: Any, _ constant: Any) throws -> PredicateTree? {
        guard case .order(let left, let right, let options) = try translate(node),
            case .value(.constant(let number as Int)) = try translate(constant),
            let result = ComparisonResult(rawValue: number)
        else { return nil }
        let comparison: ComparisonOperator =
            switch result {
            case .orderedSame: .equalTo
            case .orderedAscending: .lessThan
            case .orderedDescending: .greaterThan
            }
        return .compare(left, comparison, right, options)
    }
}

extension PredicateExpressions.Comparison: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let comparison: ComparisonOperator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: throw SwiftPredicateTranslation.unsupported("the operator \(op)")
            }
        return .condition(.compare(try translation.value(lhs), comparison, try translation.value(rhs)))
    }
}

extension PredicateExpressions.Arithmetic: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let function =
            switch op {
            case .add: "add:to:"
            case .subtract: "from:subtract:"
            case .multiply: "multiply:by:"
            @unknown default: throw SwiftPredicateTranslation.unsupported("the operator \(op)")
            }
        return .value(.function(function, [try translation.value(lhs), try translation.value(rhs)]))
    }
}

extension PredicateExpressions.UnaryMinus: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .value(.function("from:subtract:", [.constant(0), try translation.value(wrapped)]))
    }
}

extension PredicateExpressions.FloatDivision: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .value(.function("divide:by:", [try translation.value(lhs), try translation.value(rhs)]))
    }
}

extension PredicateExpressions.IntDivision: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let quotient = ExpressionTree.function("divide:by:", [try translation.value(lhs), try translation.value(rhs)])
        return .value(.function("trunc:", [quotient]))
    }
}

extension PredicateExpressions.IntRemainder: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .value(.function("modulus:by:", [try translation.value(lhs), try translation.value(rhs)]))
    }
}
