import Foundation

// One store is saved by `StoreOperations.save`. For several: all or nothing. SQLite has no transaction over several
// files in WAL mode, so a save goes in two steps: every store does all of its work in an open transaction, where
// whatever can be wrong with the work shows; and when all have done so, the transactions are committed one after the
// other. What remains possible is that a later commit fails after an earlier one succeeded: the disk fills up or goes
// away, or the machine does, in just that moment.

/// Writes the changes of one save to all stores that it concerns: usually one, which is then saved directly. Run under the
/// coordinator's lock.
struct MultiStoreSave {
    typealias Part = (changes: StoreChangeSet, store: any RowStore)

    /// Some stores were saved, others not.
    struct Incomplete: Error {
        let saved: [any RowStore]
        let failed: [any RowStore]
        let error: any Error
        /// The rows that the saved stores derived values for.
        var derived: [NSManagedObjectID: RowSnapshot] = [:]
    }

    private let parts: [Part]

    /// The same order in every process that saves to the same stores, so that no two processes wait for each other.
    init(_ parts: [Part]) {
        self.parts = parts.sorted { ($0.store.identifier ?? "") < ($1.store.identifier ?? "") }
    }

    /// - Throws: the error of the store that refused, with nothing saved; ``Incomplete`` when it was too late for that.
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

    /// Does the work of all stores that can stage it.
    ///
    /// - Returns: those stores, and the parts of the others, with which nothing was done yet.
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
