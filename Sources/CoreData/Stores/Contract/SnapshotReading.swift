/// A store that can show a state that it had, while others write.
protocol SnapshotReading: StoreOperations {
    /// A view of the store as it is now, which ends with its last reference; `nil` where the store cannot keep one.
    func makeSnapshot() throws -> AnyObject?

    /// The view, made by this store, from which rows are read; `nil` for what is newest. Used under the coordinator's lock.
    var snapshotInUse: AnyObject? { get set }
}
