import Foundation

// `StoreOperations.save` saves one store. Several stores are saved all or nothing. SQLite has no transaction over
// several files in WAL mode, so a save has two phases. First every store does its work in an open transaction, where
// all errors of that work occur. If one fails, all are rolled back and nothing is saved. Then the transactions are
// committed in turn. A later commit can still fail after an earlier one succeeded, if the disk fills up or disappears,
// or the machine stops, at that moment. Stores that are not `StagedSaving`, such as XML ones, have no open transaction:
// they are saved outright between the phases, and an error of a second such store comes too late for the first.
// Either way the changes of the saved stores are kept and count as saved, and those of the other stores stay unsaved
// changes of the context (`Incomplete`).

/// Writes the changes of one save to the affected stores. A single store, the usual case, is saved directly. Run
/// under the coordinator's lock.
struct MultiStoreSave {
    typealias Part = (changes: StoreChangeSet, store: any RowStore)

    /// The error if some stores were saved and others were not.
    struct Incomplete: Error {
        let saved: [any RowStore]
        let failed: [any RowStore]
        let error: any Error
        /// Rows with values that the saved stores derived.
        var derived: [NSManagedObjectID: RowSnapshot] = [:]
    }

    private let parts: [Part]

    /// Sorts the parts in the same order in every process that saves to these stores, to prevent deadlocks between
    /// processes.
    init(_ parts: [Part]) {
        self.parts = parts.sorted { ($0.store.identifier ?? "") < ($1.store.identifier ?? "") }
    }

    /// Saves the changes to all affected stores.
    ///
    /// - Throws: the error of the store that refused, with nothing saved; ``Incomplete`` if some stores were already
    ///   saved.
    func run() throws {
        guard parts.count > 1 else {
            for part in parts { try part.store.operations.save(part.changes) }
            return
        }
        let (staged, others) = try stage()
        var saved: [any RowStore] = []
        for (index, part) in others.enumerated() {
            do {
                try part.store.operations.save(part.changes)
                saved.append(part.store)
            } catch {
                for (operations, _) in staged { operations.abandonStaged() }
                try report(error, saved, others[index...].map(\.store) + staged.map(\.store))
            }
        }
        try commit(staged, &saved)
    }

    /// Does the work of all stores that support staging.
    ///
    /// - Returns: these stores, and the parts of the others, which are still to be saved.
    private func stage() throws -> (staged: [(operations: any StagedSaving, store: any RowStore)], others: [Part]) {
        var staged: [(operations: any StagedSaving, store: any RowStore)] = []
        var others: [Part] = []
        do {
            for part in parts {
                guard let operations = part.store.operations as? any StagedSaving else {
                    others.append(part)
                    continue
                }
                try operations.stage(part.changes)
                staged.append((operations, part.store))
            }
        } catch {
            for (operations, _) in staged { operations.abandonStaged() }
            throw error
        }
        return (staged, others)
    }

    private func commit(
        _ staged: [(operations: any StagedSaving, store: any RowStore)], _ saved: inout [any RowStore]
    ) throws {
        var failed: [any RowStore] = []
        var failure: (any Error)?
        for (operations, store) in staged {
            if failure != nil, saved.isEmpty {
                operations.abandonStaged()
                failed.append(store)
                continue
            }
            do {
                try operations.commitStaged()
                saved.append(store)
            } catch {
                failure = failure ?? error
                failed.append(store)
            }
        }
        if let failure { try report(failure, saved, failed) }
    }

    private func report(_ error: any Error, _ saved: [any RowStore], _ failed: [any RowStore]) throws {
        if saved.isEmpty { throw error }
        throw Incomplete(saved: saved, failed: failed, error: error)
    }
}
