/// A store that can do the work of a save in a transaction that stays open.
package protocol StagedSaving: StoreOperations {
    /// Does everything that `save(_:)` does except the commit, with the same errors; on an error everything is rolled
    /// back. Followed by ``commitStaged()`` or ``abandonStaged()``.
    func stage(_ changes: StoreChangeSet) throws

    /// True if the store reports its progress while it stages: ``StoreChangeSet/reporter``.
    var reportsProgress: Bool { get }

    /// Checks if the store can be written now.
    ///
    /// - Throws: the error of ``stage(_:)`` if another process has locked the store.
    func findLock() throws

    /// Called with true before ``stage(_:)`` reports progress to the program's code, and with false afterwards. In
    /// between, only the state before the save may be read from the store.
    func pauseStaging(_ isPaused: Bool)

    func commitStaged() throws

    /// Rolls back the staged changes.
    func abandonStaged()
}

extension StagedSaving {
    /// False by default.
    package var reportsProgress: Bool { false }

    /// Does nothing by default: the save itself finds a lock when it writes.
    package func findLock() throws {}

    /// Does nothing by default, because no progress is reported.
    package func pauseStaging(_ isPaused: Bool) {}
}
