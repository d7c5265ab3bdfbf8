@_exported import class CoreDataPredicates.NSComparisonPredicate
@_exported import class CoreDataPredicates.NSCompoundPredicate
@_exported import class CoreDataPredicates.NSExpression
import CoreDataPredicates
import Foundation
import PredicateSyntax

/// An alias for the class itself. With it, `CoreData.NSExpression` and `import class CoreData.NSExpression` do not
/// also match Foundation's class.
@_documentation(visibility: internal)
public typealias NSExpression = CoreDataPredicates.NSExpression

/// An alias for the class itself. With it, `CoreData.NSComparisonPredicate` does not also match Foundation's class.
@_documentation(visibility: internal)
public typealias NSComparisonPredicate = CoreDataPredicates.NSComparisonPredicate

/// An alias for the class itself. With it, `CoreData.NSCompoundPredicate` does not also match Foundation's class.
@_documentation(visibility: internal)
public typealias NSCompoundPredicate = CoreDataPredicates.NSCompoundPredicate

extension PredicateWork: PredicateWorking {
    package static func makeEvaluator() -> any PredicateEvaluator { LazyEvaluator() }

    package static func value(
        of expression: ExpressionTree, for object: Any?, variables: [String: Any]
    ) throws -> Any? {
        try CompiledExpression.value(of: expression, object: object, variables: variables)
    }

    package static func handedOut(_ constant: Any) -> Any { NumberCoercion.boxed(constant) }
    package static func predicate(of tree: PredicateTree) -> NSPredicate { NSPredicate.make(tree) }
    package static func tree(of predicate: NSPredicate) -> PredicateTree { predicate.syntaxTree }
}

extension LazyEvaluator: PredicateEvaluator {
    func holds(_ tree: @autoclosure () -> PredicateTree, for object: Any?) -> Bool {
        evaluateKnown(object) ?? evaluate(tree(), with: object, variables: nil)
    }

    func holds(_ tree: @autoclosure () -> PredicateTree, for object: Any?, variables: [String: Any]?) -> Bool {
        evaluate(tree(), with: object, variables: variables)
    }
}
