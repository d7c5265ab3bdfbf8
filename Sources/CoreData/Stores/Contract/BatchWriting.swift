/// A store that can write one transaction in steps. Stores that do not conform refuse batch requests.
protocol BatchWriting: StoreOperations {
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
protocol BatchSteps: AnyObject {
    /// Writes changes, each based on what the transaction has read.
    ///
    /// - Throws: 133021 where unique values are not; other errors of the store.
    func write(_ changes: StoreChangeSet) throws

    /// Permanent IDs for `count` new rows of `entity`.
    func reserveIDs(_ count: Int, of entity: NSEntityDescription) throws -> [NSManagedObjectID]
}
