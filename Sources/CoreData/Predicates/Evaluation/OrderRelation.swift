import Foundation
import PredicateSyntax

/// `<`, `<=`, `>`, `>=` and BETWEEN. False for values that have no order, such as `nil`.
enum OrderRelation {
    static func relation(
        _ options: ComparisonOptions, _ holds: @escaping (ComparisonResult) -> Bool
    ) -> PredicateCompiler.Relation {
        { left, right in ValueOrder.compare(left, right, options).map(holds) ?? false }
    }

    /// BETWEEN. The right side is a collection of two values, both included in the range.
    static func between(_ options: ComparisonOptions) -> PredicateCompiler.Relation {
        { value, bounds in
            guard case .collection(let bounds) = bounds, bounds.count == 2,
                let lower = ValueOrder.compare(bounds[0], value, options),
                let upper = ValueOrder.compare(value, bounds[1], options)
            else { return false }
            return lower != .orderedDescending && upper != .orderedDescending
        }
    }
}
