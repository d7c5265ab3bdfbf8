/// A store that can hold the work of a save in an open transaction.
protocol StagedSaving: StoreOperations {
    /// Does all that `save(_:)` does but the commit, with the same errors; then nothing is left of it. Followed by
    /// ``commitStaged()`` or ``abandonStaged()``.
    func stage(_ changes: StoreChangeSet) throws

    func commitStaged() throws

    /// Leaves the store as it was.
    func abandonStaged()
}
