import Foundation
import PredicateSyntax

// Translates to-many relationships, lists of constants, ranges, and texts as collections of characters.

extension PredicateExpressions.SequenceContains: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let (whole, part) = (try translation.value(sequence), try translation.value(element))
        if LHS.Output.self is any StringProtocol.Type {
            guard case .constant(let character as Character) = part else {
                return .condition(.compare(whole, .contains, part))
            }
            return .condition(.compare(whole, .contains, .constant(String(character))))
        }
        return .condition(.compare(part, .in, whole))
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let found = try translation.subquery(sequence, variable.key, test)
        return .condition(.compare(found.elementCount, .greaterThan, .constant(0)))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let failing = try translation.subquery(sequence, variable.key, test, negated: true)
        return .condition(.equal(failing.elementCount, .constant(0)))
    }
}

extension PredicateExpressions.Filter: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .value(try translation.subquery(sequence, variable.key, filter))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .value(.index(try translation.value(wrapped), .value(try translation.value(index))))
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        guard Base.Output.self is any StringProtocol.Type else {
            throw SwiftPredicateTranslation.unsupported("a collection in a collection")
        }
        return .condition(.compare(try translation.value(base), .contains, try translation.value(other)))
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        guard Base.Output.self is any StringProtocol.Type else {
            throw SwiftPredicateTranslation.unsupported("the beginning of a collection")
        }
        return .condition(.compare(try translation.value(base), .beginsWith, try translation.value(prefix)))
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let element = try translation.value(element)
        let bounds = try (range as? any TranslatableRange)?.bounds(translation)
        guard let bounds else { throw SwiftPredicateTranslation.unsupported("a \(Swift.type(of: range))") }
        return .condition(.and(bounds.map { .compare(element, $0.comparison, $0.value) }))
    }
}

/// One bound of a range: the comparison that its elements satisfy.
struct RangeBound {
    let comparison: ComparisonOperator
    let value: ExpressionTree
}

/// A range of constants or of nodes.
protocol TranslatableRange {
    func bounds(_ translation: SwiftPredicateTranslation) throws -> [RangeBound]?
}

extension PredicateExpressions.Range: TranslatableRange {
    func bounds(_ translation: SwiftPredicateTranslation) throws -> [RangeBound]? {
        [
            RangeBound(comparison: .greaterThanOrEqualTo, value: try translation.value(lower)),
            RangeBound(comparison: .lessThan, value: try translation.value(upper)),
        ]
    }
}

extension PredicateExpressions.ClosedRange: TranslatableRange {
    func bounds(_ translation: SwiftPredicateTranslation) throws -> [RangeBound]? {
        [
            RangeBound(comparison: .greaterThanOrEqualTo, value: try translation.value(lower)),
            RangeBound(comparison: .lessThanOrEqualTo, value: try translation.value(upper)),
        ]
    }
}

extension PredicateExpressions.Value: TranslatableRange {
    func bounds(_ translation: SwiftPredicateTranslation) throws -> [RangeBound]? {
        (value as? any ConstantRange)?.ends.map { RangeBound(comparison: $0.0, value: .constant($0.1)) }
    }
}

private protocol ConstantRange { var ends: [(ComparisonOperator, Any)] { get } }

extension Range: ConstantRange {
    fileprivate var ends: [(ComparisonOperator, Any)] {
        [(.greaterThanOrEqualTo, lowerBound), (.lessThan, upperBound)]
    }
}
extension ClosedRange: ConstantRange {
    fileprivate var ends: [(ComparisonOperator, Any)] {
        [(.greaterThanOrEqualTo, lowerBound), (.lessThanOrEqualTo, upperBound)]
    }
}
extension PartialRangeFrom: ConstantRange {
    fileprivate var ends: [(ComparisonOperator, Any)] { [(.greaterThanOrEqualTo, lowerBound)] }
}
extension PartialRangeUpTo: ConstantRange {
    fileprivate var ends: [(ComparisonOperator, Any)] { [(.lessThan, upperBound)] }
}
extension PartialRangeThrough: ConstantRange {
    fileprivate var ends: [(ComparisonOperator, Any)] { [(.lessThanOrEqualTo, upperBound)] }
}
