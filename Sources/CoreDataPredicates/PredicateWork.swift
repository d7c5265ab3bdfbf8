import Foundation
import PredicateSyntax

/// What expressions and predicates leave to `CoreData`: evaluation, and predicates of other classes.
///
/// This room lies below, since Swift prefers a class that a module hands on by name to one of the same name in Foundation, and
/// does not prefer a module's own. So it cannot call `CoreData`, which makes ``PredicateWork`` conform instead.
package protocol PredicateWorking: Sendable {
    /// What evaluates one predicate, and keeps what it compiled for it.
    static func makeEvaluator() -> any PredicateEvaluator
    /// The value of an expression as a program gets it; see `expressionValue(with:context:)`.
    ///
    /// - Throws: where a function of it does not exist.
    static func value(of expression: ExpressionTree, for object: Any?, variables: [String: Any]) throws -> Any?
    /// A constant as a program gets it: numbers of Swift's as objects.
    static func handedOut(_ constant: Any) -> Any
    /// The predicate of a tree, of the class that Apple's would be.
    static func predicate(of tree: PredicateTree) -> NSPredicate
    /// A predicate of any class as a value.
    static func tree(of predicate: NSPredicate) -> PredicateTree
}

/// Evaluates one predicate, whose tree is always the same. Safe on any thread.
package protocol PredicateEvaluator: AnyObject {
    /// Whether the predicate holds for an object, as it usually is asked.
    func holds(_ tree: @autoclosure () -> PredicateTree, for object: Any?) -> Bool
    /// The same, with the values of variables.
    func holds(_ tree: @autoclosure () -> PredicateTree, for object: Any?, variables: [String: Any]?) -> Bool
}

/// Where the conformance is found that `CoreData` declares, at the first use: nothing has to be set up before.
package enum PredicateWork {
    static let known: any PredicateWorking.Type = {
        guard let found = (PredicateWork.self as Any.Type) as? any PredicateWorking.Type else {
            preconditionFailure("expressions and comparisons need the module CoreData in their program")
        }
        return found
    }()
}
