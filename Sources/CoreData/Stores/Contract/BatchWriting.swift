import PredicateSyntax

/// A store that can write one transaction in steps. Stores that do not conform refuse batch requests.
package protocol BatchWriting: StoreOperations {
    /// Runs `body` in one transaction that no other connection writes beside, and commits it. What the store's members read
    /// meanwhile is the newest state with what the steps wrote so far. Called under the coordinator's lock.
    ///
    /// - Parameters:
    ///   - author: for the history, which gets one transaction if any step writes anything.
    ///   - contextName: the same.
    /// - Throws: what `body` throws, and errors of the store; then nothing of any step is left.
    func writeInSteps(
        author: String?, contextName: String?, _ body: (any BatchSteps) throws -> Void
    ) throws
}

/// The open transaction of a batch.
package protocol BatchSteps: AnyObject {
    /// Writes changes, each based on what the transaction has read.
    ///
    /// - Throws: 133021 where unique values are not; other errors of the store.
    func write(_ changes: StoreChangeSet) throws

    /// Permanent IDs for `count` new rows of `entity`.
    func reserveIDs(_ count: Int, of entity: NSEntityDescription) throws -> [NSManagedObjectID]
}

/// The steps of a store that changes sets of rows by statements, where these leave what row by row would be left.
///
/// Each member answers `nil`, and has written nothing, where only row by row does what is asked; also where a statement fails, so
/// that the row that is at fault can be told.
protocol BatchSetSteps: BatchSteps {
    /// Inserts rows whose values need no look at others: the entity has no unique values.
    ///
    /// - Parameter keepsIDs: whether the answer has the IDs.
    func insert(_ rows: NewRows, of entity: NSEntityDescription, keepsIDs: Bool) throws -> BatchOutcome?

    /// Gives values to all rows that a query without limit finds.
    ///
    /// - Returns: how many there were.
    func update(_ query: StoreQuery, with values: [BatchSetValue]) throws -> Int?

    /// Deletes all rows that a query without limit finds, with what their delete rules demand.
    ///
    /// - Returns: how many there were.
    func delete(_ query: StoreQuery) throws -> Int?
}

/// A value that a batch update sets in all of its rows.
struct BatchSetValue {
    let property: NSPropertyDescription
    let value: Value

    enum Value {
        case constant(SlotValue)
        /// Of the row's values before the update.
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

    /// Rows whose IDs nothing asks for.
    mutating func add(_ number: Int) { count += number }
}
