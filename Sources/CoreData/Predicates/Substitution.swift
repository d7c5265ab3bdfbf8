import Foundation
import PredicateSyntax

/// Replaces variables by values.
enum Substitution {
    static func apply(_ variables: [String: Any], to tree: PredicateTree) -> PredicateTree {
        switch tree {
        case .constant, .opaque: return tree
        case .comparison(var comparison):
            comparison.left = apply(variables, to: comparison.left)
            comparison.right = apply(variables, to: comparison.right)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map { apply(variables, to: $0) })
        case .or(let parts): return .or(parts.map { apply(variables, to: $0) })
        case .not(let part): return .not(apply(variables, to: part))
        }
    }

    static func apply(_ variables: [String: Any], to tree: ExpressionTree) -> ExpressionTree {
        func substituted(_ part: ExpressionTree) -> ExpressionTree { apply(variables, to: part) }
        switch tree {
        case .constant, .evaluatedObject, .keyPath, .opaque: return tree
        case .variable(let name):
            guard let value = variables[name] else { return tree }
            if let expression = value as? NSExpression { return expression.tree }
            return .constant(value is NSNull ? nil : value)
        case .keyPathOf(let base, let keys): return .keyPathOf(substituted(base), keys)
        case .function(let name, let arguments): return .function(name, arguments.map(substituted))
        case .functionOn(let target, let selector, let arguments):
            return .functionOn(substituted(target), selector, arguments.map(substituted))
        case .aggregate(let elements): return .aggregate(elements.map(substituted))
        case .subquery(let collection, let variable, let predicate):
            let inner = variables.filter { $0.key != variable }
            return .subquery(substituted(collection), variable: variable, predicate: apply(inner, to: predicate))
        case .index(let collection, let position):
            guard case .value(let place) = position else { return .index(substituted(collection), position) }
            return .index(substituted(collection), .value(substituted(place)))
        case .conditional(let condition, let first, let second):
            return .conditional(apply(variables, to: condition), substituted(first), substituted(second))
        case .set(let operation, let left, let right): return .set(operation, substituted(left), substituted(right))
        }
    }
}
