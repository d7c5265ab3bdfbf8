import Foundation
import Synchronization

/// Who waits for which queue: one for all contexts of the process.
///
/// A chain of blocks waits for one queue at a time. So from a chain one comes to the queue that it waits for, to the chain that is
/// on that, and on; who comes back to the first chain has found a circle.
final class WaitingTable: @unchecked Sendable {
    static let shared = WaitingTable()

    private let lock = NSLock()
    private var entries: [UInt: (lane: QueueLane, job: QueueJob)] = [:]

    /// Runs `body` alone. It must not call what is not part of these files.
    func locked<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    // MARK: Under the lock

    /// Notes that a chain waits, and opens the circle of waiting that it closes, if it does.
    ///
    /// - Parameter job: among the jobs of `lane`.
    func add(_ job: QueueJob, _ lane: QueueLane) -> (outer: (lane: QueueLane, job: QueueJob)?, circle: [QueueJob]) {
        let outer = entries[job.chain]
        entries[job.chain] = (lane, job)
        return (outer, openCircle(from: job.chain))
    }

    func remove(_ chain: UInt, restoring outer: (lane: QueueLane, job: QueueJob)?) { entries[chain] = outer }

    /// Looks for a circle through `chain`, and has one of the jobs in it done by the thread that is on the queue and waits: one
    /// with which a child asks its parent, if there is one.
    private func openCircle(from chain: UInt) -> [QueueJob] {
        var circle: [(lane: QueueLane, job: QueueJob)] = []
        var next = chain
        while let entry = entries[next], circle.count <= entries.count {
            circle.append(entry)
            next = entry.lane.holder.load(ordering: .relaxed)
            if next == chain { break }
        }
        guard next == chain, !circle.isEmpty else { return [] }
        let chosen = circle.first { $0.job.isUpward } ?? circle[circle.count - 1]
        guard let helper = entries[chosen.lane.holder.load(ordering: .relaxed)]?.job.waiter,
            chosen.lane.withdraw(chosen.job)
        else { return [] }
        helper.help.append(chosen)
        helper.semaphore.signal()
        return circle.map(\.job)
    }
}
