import Foundation

extension NSPersistentStoreCoordinator {
    /// What is wrong in the file of `store`; nothing in a sound one. An addition to Apple's API.
    ///
    /// Looks at the database's own integrity, the entities and the references of rows, the counters of keys, the places in
    /// ordered relationships, the files of external values, and the history beside the rows. Reads the whole file once for
    /// each of them, and keeps other work of the coordinator waiting. May be called on any queue.
    ///
    /// - Throws: 134060 for a store of a type that cannot be checked, or of another coordinator; a `CocoaError` where the
    ///   file cannot be read.
    public func findings(in store: NSPersistentStore) throws -> [PersistentStoreFinding] {
        try withLock { try checkable(store).findings() }
    }

    /// Sets right what `findings(in:)` found and what can be set right, in one transaction: references to rows that are not
    /// there are emptied where the relationship is optional, places in ordered relationships are given anew, counters are
    /// raised, indexes built again, and changes of no transaction removed from the history. An addition to Apple's API.
    ///
    /// The history tells nothing of it: contexts that have read the store must be reset. May be called on any queue.
    ///
    /// - Returns: What was set right.
    /// - Throws: 134060 for a store of a type that cannot be checked, or of another coordinator; 513 for one that is read-only;
    ///   a `CocoaError` where the file cannot be read.
    public func repair(_ store: NSPersistentStore) throws -> [PersistentStoreFinding] {
        try withLock { try checkable(store).repair() }
    }

    private func checkable(_ store: NSPersistentStore) throws -> any CheckableStore {
        guard store.persistentStoreCoordinator === self else {
            throw CoreDataError.make(134060, "The store \(store.placeName) is not of this coordinator.")
        }
        guard let checkable = store as? any CheckableStore else {
            throw CoreDataError.make(
                134060, "The store \(store.placeName) cannot be checked: only SQLite stores can.")
        }
        return checkable
    }
}
