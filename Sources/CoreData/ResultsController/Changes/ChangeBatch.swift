/// All changes of one batch in a list: both states, and the fewest changes from one to the other.
///
/// Immutable. Row callbacks, difference and snapshot are projections of it. Positions of deleted rows are in the old
/// state, positions of inserted rows in the new one. Every row has at most one change; rows that are only shifted by
/// others have none.
struct ChangeBatch {
    enum Kind {
        case delete
        case insert
        case move
        case update
    }

    /// The change of one row. `oldPath` is `nil` for an insert, `newPath` for a delete.
    struct RowChange {
        let kind: Kind
        let row: RowToken
        let oldPath: ListContents.Path?
        let newPath: ListContents.Path?
    }

    /// A deleted or inserted section.
    struct SectionChange: Hashable {
        let index: Int
        let number: UInt32
    }

    let old: ListContents
    let new: ListContents
    /// The deleted sections, by descending old index.
    let deletedSections: [SectionChange]
    /// The inserted sections, by ascending new index.
    let insertedSections: [SectionChange]
    /// Deletes by descending old path, inserts and moves by ascending new path, updates by ascending old path.
    let rowChanges: [RowChange]
    /// The rows that moved or were updated.
    let reloaded: [RowToken]

    /// True if both states have the same sections in the same order.
    var keepsSections: Bool { deletedSections.isEmpty && insertedSections.isEmpty }

    var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && rowChanges.isEmpty }

    /// Finds the fewest changes. O(k log n) for k touched rows.
    ///
    /// - Parameters:
    ///   - touched: every row that was inserted, deleted or changed. All others must be in both states in the same
    ///     order.
    ///   - replaced: unchanged rows that were placed again: reported only if they had to move.
    init(from old: ListContents, to new: ListContents, touched: Set<RowToken>, replaced: Set<RowToken> = []) {
        let others = replaced.isEmpty ? [] : Array(replaced.subtracting(touched))
        self.init(BatchBuilder(old: old, new: new, touched: Array(touched), others: others))
    }

    /// Finds the fewest changes between two lists whose rows did not change, if the steps between them are unknown. One
    /// walk over each, O(n).
    init(comparing old: ListContents, with new: ListContents) {
        let changed = ListComparison.changedRows(from: old, to: new)
        self.init(BatchBuilder(old: old, new: new, touched: [], others: changed))
    }

    private init(_ builder: BatchBuilder) {
        old = builder.old
        new = builder.new
        deletedSections = builder.deletedSections
        insertedSections = builder.insertedSections
        rowChanges = builder.rowChanges
        reloaded = builder.reloaded
    }
}
