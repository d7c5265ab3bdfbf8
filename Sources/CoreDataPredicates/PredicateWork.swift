import Foundation
import PredicateSyntax

/// The work that expressions and predicates delegate to `CoreData`: evaluation, and predicates of other classes.
///
/// The classes are in a separate module because Swift prefers a class that a module re-exports by name to Foundation's
/// class of the same name, but not a module's own class. So this module cannot call `CoreData`, which makes
/// ``PredicateWork`` conform instead.
package protocol PredicateWorking: Sendable {
    /// Creates an evaluator of one predicate, which caches its compiled form.
    static func makeEvaluator() -> any PredicateEvaluator
    /// The value of an expression as returned to programs; see `expressionValue(with:context:)`.
    ///
    /// - Throws: if one of its functions does not exist.
    static func value(of expression: ExpressionTree, for object: Any?, variables: [String: Any]) throws -> Any?
    /// A constant as returned to programs: Swift numbers as objects.
    static func handedOut(_ constant: Any) -> Any
    /// A predicate with a tree, of the same class as Apple's.
    static func predicate(of tree: PredicateTree) -> NSPredicate
    /// The tree of a predicate of any class.
    static func tree(of predicate: NSPredicate) -> PredicateTree
}

/// Evaluates one predicate, whose tree must always be the same. Safe on any thread.
package protocol PredicateEvaluator: AnyObject {
    /// True if the predicate holds for an object. The usual case.
    func holds(_ tree: @autoclosure () -> PredicateTree, for object: Any?) -> Bool
    /// True if the predicate holds for an object, with the values of variables.
    func holds(_ tree: @autoclosure () -> PredicateTree, for object: Any?, variables: [String: Any]?) -> Bool
}

/// Finds the conformance that `CoreData` declares, at the first use, so that no set-up is needed.
package enum PredicateWork {
    static let known: any PredicateWorking.Type = {
        guard let found = (PredicateWork.self as Any.Type) as? any PredicateWorking.Type else {
            preconditionFailure("expressions and comparisons need the module CoreData in their program")
        }
        return found
    }()
}
