import PredicateSyntax

/// A store that can write one transaction in steps. Stores that do not conform refuse batch requests.
package protocol BatchWriting: StoreOperations {
    /// Runs `body` in one transaction that excludes other writers, and commits it. In `body` the store's members read
    /// the newest state with the steps written so far. Called under the coordinator's lock.
    ///
    /// - Parameters:
    ///   - author: author of the history's transaction, which is written if any step writes anything.
    ///   - contextName: context name of that transaction.
    /// - Throws: what `body` throws, and errors of the store. All steps are then rolled back.
    func writeInSteps(
        author: String?, contextName: String?, _ body: (any BatchSteps) throws -> Void
    ) throws
}

/// The open transaction of a batch.
package protocol BatchSteps: AnyObject {
    /// Writes changes. Each is based on the state that the transaction has read.
    ///
    /// - Throws: 133021 for a duplicate unique value; other errors of the store.
    func write(_ changes: StoreChangeSet) throws

    /// Reserves permanent IDs for `count` new rows of `entity`.
    func reserveIDs(_ count: Int, of entity: NSEntityDescription) throws -> [NSManagedObjectID]
}

/// Batch steps of a store that changes sets of rows with one statement, if the result is the same as row by row.
///
/// Each member returns `nil`, with nothing written, if only row-by-row work gives the right result. It also does so if
/// a statement fails, because working row by row then finds the row that caused the failure.
protocol BatchSetSteps: BatchSteps {
    /// Inserts rows whose entity has no unique values, so that no other rows need to be read.
    ///
    /// - Parameter keepsIDs: true if the outcome must contain the IDs.
    func insert(_ rows: NewRows, of entity: NSEntityDescription, keepsIDs: Bool) throws -> BatchOutcome?

    /// Sets values in all rows that match a query without limit.
    ///
    /// - Returns: the number of rows.
    func update(_ query: StoreQuery, with values: [BatchSetValue]) throws -> Int?

    /// Deletes all rows that match a query without limit, and applies their delete rules.
    ///
    /// - Returns: the number of rows.
    func delete(_ query: StoreQuery) throws -> Int?
}

/// A value that a batch update sets in all of its rows.
struct BatchSetValue {
    let property: NSPropertyDescription
    let value: Value

    enum Value {
        case constant(SlotValue)
        /// An expression of the row's values before the update.
        case expression(ExpressionTree)
    }
}

/// The result of a batch.
struct BatchOutcome {
    /// True if the IDs of the rows are wanted.
    let keepsIDs: Bool
    /// The number of rows written.
    private(set) var count = 0
    private(set) var ids: [NSManagedObjectID] = []

    init(keepsIDs: Bool) { self.keepsIDs = keepsIDs }

    mutating func add(_ written: some Collection<NSManagedObjectID>) {
        count += written.count
        if keepsIDs { ids += written }
    }

    mutating func add(_ written: BatchOutcome) {
        count += written.count
        if keepsIDs { ids += written.ids }
    }

    /// Adds rows whose IDs are not wanted.
    mutating func add(_ number: Int) { count += number }
}
