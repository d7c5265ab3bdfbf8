/// A recursive lock of a chain of calls, on whatever threads its blocks run.
///
/// It is a queue among those of contexts: where a thread that has the lock waits for a context, such as in a comparator of a
/// program's, and that context's work for the lock, the latter borrows it (``QueueWaits``).
// SAFETY: what changes is used by the chain of calls that has the lock.
final class ChainLock: @unchecked Sendable {
    private struct Hold {
        var depth = 1
        let loan: QueueLoan?
        let reason: QueueWaiter.Reason
    }

    private let queue = WorkQueue.makeForLock()
    /// The chain that has the lock is the last one; those before it lent it.
    // SAFETY: the chain that has the lock uses it, and nothing is called while it changes: no accesses overlap.
    @exclusivity(unchecked)
    private var holds: [Hold] = []

    /// Waits for the lock and takes it, once more if the caller has it.
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

    /// Gives the lock back, if the caller has it.
    func unlock() {
        guard queue.isCurrent else { return }
        let last = holds.count - 1
        holds[last].depth -= 1
        guard holds[last].depth == 0 else { return }
        let hold = holds.removeLast()
        if queue.watch != nil, hold.reason == .beneath { QueueWatchdog.lockWasLeft() }
        queue.end(hold.loan)
    }

    /// The caller's chain has the lock.
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
