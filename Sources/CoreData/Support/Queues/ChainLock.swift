/// A recursive lock held by a chain of calls, on any threads.
///
/// It is a queue like those of contexts. If a thread with the lock waits for a context (in a program's comparator,
/// for example), and that context's work waits for the lock, the work borrows the lock (``QueueWaits``).
// SAFETY: only the chain of calls that has the lock uses mutable state.
final class ChainLock: @unchecked Sendable {
    private struct Hold {
        var depth = 1
        let loan: QueueLoan?
        let reason: QueueWaiter.Reason
    }

    private let queue = WorkQueue.makeForLock()
    /// The chains that took the lock, in order. The last one has it; the earlier ones lent it.
    // SAFETY: only the chain that has the lock uses it, and nothing is called during a change: accesses do not overlap.
    @exclusivity(unchecked)
    private var holds: [Hold] = []

    /// Waits for the lock and takes it; recursive if the caller has it.
    func lock(_ reason: QueueWaiter.Reason = .beneath) {
        if queue.isCurrent {
            holds[holds.count - 1].depth += 1
        } else {
            let loan = queue.begin(reason)
            take(loan, reason)
        }
    }

    /// Takes the lock if no other chain has it.
    func tryLock() -> Bool {
        if queue.isCurrent {
            holds[holds.count - 1].depth += 1
            return true
        }
        guard queue.takeIfFree() else { return false }
        take(nil, .beneath)
        return true
    }

    /// Releases the lock if the caller has it.
    func unlock() {
        guard queue.isCurrent else { return }
        let last = holds.count - 1
        holds[last].depth -= 1
        guard holds[last].depth == 0 else { return }
        let hold = holds.removeLast()
        if queue.watch != nil, hold.reason == .beneath { QueueWatchdog.lockWasLeft() }
        queue.end(hold.loan)
    }

    /// Records that the caller's chain has the lock.
    private func take(_ loan: QueueLoan?, _ reason: QueueWaiter.Reason) {
        holds.append(Hold(loan: loan, reason: reason))
        if queue.watch != nil, reason == .beneath { QueueWatchdog.lockWasTaken() }
    }

    func withLock<Result>(_ reason: QueueWaiter.Reason, _ body: () throws -> Result) rethrows -> Result {
        lock(reason)
        defer { unlock() }
        return try body()
    }
}
