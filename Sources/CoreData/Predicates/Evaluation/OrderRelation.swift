import Foundation
import PredicateSyntax

/// `<`, `<=`, `>`, `>=` and BETWEEN. Values without an order among each other, `nil` for one, never stand in it.
enum OrderRelation {
    static func relation(
        _ options: ComparisonOptions, _ holds: @escaping (ComparisonResult) -> Bool
    ) -> PredicateCompiler.Relation {
        { left, right in ValueOrder.compare(left, right, options).map(holds) ?? false }
    }

    /// The right side is a collection of two: both bounds belong to the range.
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
