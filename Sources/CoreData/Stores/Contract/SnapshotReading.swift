/// A store that can keep a past state readable while others write.
package protocol SnapshotReading: StoreOperations {
    /// Returns a view of the current state, kept while it is referenced; `nil` if the store cannot keep one.
    func makeSnapshot() throws -> AnyObject?

    /// Runs `body`, in which rows are read from a view of this store, or from the newest state if `snapshot` is `nil`.
    /// Called under the coordinator's lock.
    func reading<Result>(from snapshot: AnyObject?, _ body: () throws -> Result) rethrows -> Result
}
