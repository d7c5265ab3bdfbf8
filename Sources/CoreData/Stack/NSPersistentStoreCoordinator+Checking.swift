import Foundation

extension NSPersistentStoreCoordinator {
    /// The problems found in the file of `store`; empty if it is sound. An addition to Apple's API.
    ///
    /// Checks the database's integrity, the entities and references of rows, key counters, positions in ordered
    /// relationships, files of external values, and the history against the rows. Reads the whole file once for each
    /// check, and blocks other work of the coordinator. May be called on any queue.
    ///
    /// - Throws: 134060 for a store that cannot be checked, or of another coordinator; a `CocoaError` if the file
    ///   cannot be read.
    public func findings(in store: NSPersistentStore) throws -> [PersistentStoreFinding] {
        try withLock { try checkable(store).findings() }
    }

    /// Repairs the repairable problems that `findings(in:)` reports, in one transaction. Clears optional references
    /// to missing rows, renumbers positions in ordered relationships, raises counters, rebuilds indexes, and removes
    /// history changes without a transaction. An addition to Apple's API.
    ///
    /// The history does not record the repair: contexts that have read the store must be reset. May be called on any
    /// queue.
    ///
    /// - Returns: the repaired problems.
    /// - Throws: 134060 for a store that cannot be checked, or of another coordinator; 513 for a read-only store; a
    ///   `CocoaError` if the file cannot be read.
    public func repair(_ store: NSPersistentStore) throws -> [PersistentStoreFinding] {
        try withLock { try checkable(store).repair() }
    }

    private func checkable(_ store: NSPersistentStore) throws -> any CheckableStore {
        guard store.persistentStoreCoordinator === self else {
            throw CoreDataError.make(134060, "This coordinator does not have the store \(store.placeName).")
        }
        guard let checkable = (store as? any RowStore)?.operations as? any CheckableStore else {
            throw CoreDataError.make(
                134060, "Cannot check the store \(store.placeName): only SQLite stores can be checked.")
        }
        return checkable
    }
}
