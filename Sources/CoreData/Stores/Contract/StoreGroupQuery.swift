import Foundation
import PredicateSyntax

/// A fetch of dictionaries that aggregates rows (sums, counts, groups), as a query to a store.
///
/// The trees are resolved: keys exist, and functions of constants are constants. An aggregate function (`sum:`,
/// `count:` …) of a row value covers the rows of a group; outside of aggregates only the group keys are read.
package struct StoreGroupQuery {
    /// The rows to group. Its order, limit and offset are ignored.
    package var rows: StoreQuery
    /// The values to compute for each group.
    var columns: [ExpressionTree]
    /// The values to group by; empty for one group of all rows, which may be empty.
    var groups: [ExpressionTree] = []
    /// The condition on groups.
    var having: PredicateTree?
    /// The order of the groups. Ties are ordered by the group keys.
    var sortKeys: [SortKey] = []
    /// The maximum number of groups; 0 means no limit.
    var limit = 0
    var offset = 0

    /// Names of two aggregates for exact sums of integers: the sum of the values divided by 2³² (rounded down), and the
    /// sum of the remainders. Neither overflows 64 bits. Predicate expressions do not have these functions.
    static let highSum = "highSum:"
    static let lowSum = "lowSum:"

    static func isPartOfSum(_ function: String) -> Bool { function == highSum || function == lowSum }

    struct SortKey {
        let tree: ExpressionTree
        let key: StoreSortKey
        /// The comparator, if the comparison is code.
        let code: Comparator?
    }
}
