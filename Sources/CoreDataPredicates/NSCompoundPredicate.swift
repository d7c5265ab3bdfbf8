import Foundation
import PredicateSyntax

/// Predicates joined by AND or OR, or one negated by NOT. Foundation's class with this name on Linux neither prints nor
/// compares its parts; this one does.
///
/// Immutable, and safe on any thread if the objects in it are.
open class NSCompoundPredicate: Foundation.NSCompoundPredicate {
    package let tree: PredicateTree
    package let evaluator = PredicateWork.known.makeEvaluator()
    /// True if a part is of a program's own subclass, which may override the evaluation of its tree.
    package let hasOwnParts: Bool

    /// Joins `subpredicates` by `type`; NOT uses the first.
    public override init(type: LogicalType, subpredicates: [NSPredicate]) {
        let parts = subpredicates.map { PredicateWork.known.tree(of: $0) }
        tree =
            switch type {
            case .and: .and(parts)
            case .or: .or(parts)
            case .not: .not(parts.first ?? .constant(true))
            }
        hasOwnParts = subpredicates.contains(where: Self.isOwn)
        super.init(type: type, subpredicates: subpredicates)
    }

    package init(_ tree: PredicateTree, type: LogicalType, subpredicates: [NSPredicate]) {
        self.tree = tree
        hasOwnParts = false
        super.init(type: type, subpredicates: subpredicates)
    }

    private static func isOwn(_ part: NSPredicate) -> Bool {
        switch part {
        case let compound as NSCompoundPredicate:
            compound.hasOwnParts || type(of: compound) != NSCompoundPredicate.self
        case let comparison as NSComparisonPredicate: type(of: comparison) != NSComparisonPredicate.self
        default: false
        }
    }

    /// The text of the tree, regardless of overrides in a subclass.
    private var formatText: String { FormatPrinter.string(tree) }

    open override var predicateFormat: String { formatText }
    open override var description: String { formatText }

    open override func evaluate(with object: Any?) -> Bool {
        // A subclass may override the other method, which Foundation's implementation calls from here.
        guard type(of: self) == NSCompoundPredicate.self, !hasOwnParts else {
            return evaluate(with: object, substitutionVariables: nil)
        }
        return evaluator.holds(tree, for: object)
    }

    /// True if the predicate holds for `object`: a managed object, a dictionary, or any value for `SELF`.
    ///
    /// - Precondition: the functions of the predicate exist; Apple's framework raises an exception otherwise.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        guard hasOwnParts else { return evaluator.holds(tree, for: object, variables: bindings) }
        func holds(_ part: Any) -> Bool {
            (part as? NSPredicate)?.evaluate(with: object, substitutionVariables: bindings) ?? true
        }
        return switch compoundPredicateType {
        case .and: subpredicates.allSatisfy(holds)
        case .or: subpredicates.contains(where: holds)
        case .not: !(subpredicates.first.map(holds) ?? true)
        }
    }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPredicate).map { FormatPrinter.string(PredicateWork.known.tree(of: $0)) == formatText } ?? false
    }

    open override var hash: Int { formatText.hash }
}
