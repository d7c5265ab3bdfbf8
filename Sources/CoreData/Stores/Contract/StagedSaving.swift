/// A store that can hold the work of a save in an open transaction.
package protocol StagedSaving: StoreOperations {
    /// Does all that `save(_:)` does but the commit, with the same errors; then nothing is left of it. Followed by
    /// ``commitStaged()`` or ``abandonStaged()``.
    func stage(_ changes: StoreChangeSet) throws

    /// True if it reports its progress while it stages: ``StoreChangeSet/reporter``.
    var reportsProgress: Bool { get }

    /// Finds out whether the store can be written now.
    ///
    /// - Throws: what ``stage(_:)`` throws where another process keeps the store locked.
    func findLock() throws

    /// Called with true before a program's code hears from within ``stage(_:)`` how far that is, and with false after it: until
    /// then only a state from before may be read of the store.
    func pauseStaging(_ isPaused: Bool)

    func commitStaged() throws

    /// Leaves the store as it was.
    func abandonStaged()
}

extension StagedSaving {
    /// By default it tells nothing.
    package var reportsProgress: Bool { false }

    /// By default a lock is met when the store is written.
    package func findLock() throws {}

    /// By default nothing hears of it meanwhile.
    package func pauseStaging(_ isPaused: Bool) {}
}
