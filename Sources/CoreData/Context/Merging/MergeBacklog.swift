import Synchronization

// A writer in another process may commit faster than a context can follow, and what is merged on the main queue keeps keys and
// frames waiting. So commits that wait for their turn become one batch, and after a batch the queue is left alone for as long as
// that took: merging never takes more than half of a queue's time.

/// What other processes committed and a context did not merge yet. Safe to use from any thread.
final class MergeBacklog: Sendable {
    private struct State {
        var changes: CommittedChanges?
        var restsUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Puts changes behind those that wait.
    ///
    /// - Returns: how long to wait before ``take()`` is called; `nil` where that is on its way already.
    func add(_ changes: CommittedChanges) -> Duration? {
        state.withLock { state in
            if let waiting = state.changes {
                state.changes = waiting.followed(by: changes)
                return nil
            }
            state.changes = changes
            return max(.zero, (state.restsUntil ?? .now) - .now)
        }
    }

    /// Everything that waits.
    func take() -> CommittedChanges? {
        state.withLock { state in
            defer { state.changes = nil }
            return state.changes
        }
    }

    func didMerge(in time: Duration) {
        let rest = min(time, .milliseconds(500))
        state.withLock { $0.restsUntil = rest < .milliseconds(5) ? nil : .now + rest }
    }
}

extension CommittedChanges {
    /// What these changes and later ones made together.
    func followed(by later: CommittedChanges) -> CommittedChanges {
        var result = CommittedChanges()
        let (gone, new) = (Set(later.deleted), Set(inserted))
        let (isDeleted, isBack) = (Set(deleted), Set(later.inserted))
        result.inserted = inserted.filter { !gone.contains($0) } + later.inserted.filter { !new.contains($0) }
        let told = Set(result.inserted).union(gone)
        var seen: Set<NSManagedObjectID> = []
        result.updated = (updated + later.updated).filter { !told.contains($0) && seen.insert($0).inserted }
        result.deleted = deleted.filter { !isBack.contains($0) } + later.deleted.filter { !isDeleted.contains($0) }
        // The later row of two is the one that counts.
        let newer = Set(later.rows.map(\.id))
        result.rows = rows.filter { !newer.contains($0.id) && !gone.contains($0.id) } + later.rows
        result.staleStores = staleStores + later.staleStores.filter { store in !staleStores.contains { $0 === store } }
        return result
    }
}
