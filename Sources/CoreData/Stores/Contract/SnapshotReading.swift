/// A store that can show a state that it had, while others write.
package protocol SnapshotReading: StoreOperations {
    /// A view of the store as it is now, which ends with its last reference; `nil` where the store cannot keep one.
    func makeSnapshot() throws -> AnyObject?

    /// Runs `body`, in which rows are read from a view that this store made, or from what is newest. Used under the
    /// coordinator's lock.
    func reading<Result>(from snapshot: AnyObject?, _ body: () throws -> Result) rethrows -> Result
}
