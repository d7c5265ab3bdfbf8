import Foundation
import PredicateSyntax

/// What a fetch of dictionaries asks of a store where it reckons over many rows: sums, counts, groups.
///
/// The trees are resolved: keys exist, functions of constants are constants. An aggregate function (`sum:`, `count:` …) of
/// a value of the rows goes over the rows of a group; outside of those only the groups' own values are looked at.
package struct StoreGroupQuery {
    /// The rows to group. Its order, limit and offset are ignored.
    package var rows: StoreQuery
    /// The values to compute for each group.
    var columns: [ExpressionTree]
    /// By which values the rows are grouped; empty for one group of all the rows, which may be empty.
    var groups: [ExpressionTree] = []
    /// The condition on groups.
    var having: PredicateTree?
    /// The order; groups that are the same in it follow the values that they are grouped by.
    var sortKeys: [SortKey] = []
    /// 0 means no limit.
    var limit = 0
    var offset = 0

    /// Functions of whole numbers of any size beside those of expressions: the sum of what they are in units of 2³², rounded
    /// down, and that of the rest. Neither leaves the range of 64 bits.
    static let highSum = "highSum:"
    static let lowSum = "lowSum:"

    static func isPartOfSum(_ function: String) -> Bool { function == highSum || function == lowSum }

    struct SortKey {
        let tree: ExpressionTree
        let key: StoreSortKey
        /// For a comparison that is code.
        let code: Comparator?
    }
}
