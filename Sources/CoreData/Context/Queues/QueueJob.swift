import Dispatch

/// A block that is to run on a queue.
final class QueueJob: @unchecked Sendable {
    /// The chain that waits for it; 0 where none does.
    let chain: UInt
    /// Whether a child context asks its parent.
    let isUpward: Bool
    /// Run once, and let go then: the thread that waits must be the last to hold it.
    fileprivate var work: (() -> Void)?
    /// Where the thread that waits for it sleeps, if one does.
    let waiter: QueueWaiter?
    /// Where the wait began, while the watchdog is on.
    let stack: [String]

    init(chain: UInt, isUpward: Bool, _ work: UncheckedSendable<() -> Void>) {
        self.chain = chain
        self.isUpward = isUpward
        self.work = work.value
        waiter = chain == 0 ? nil : QueueWaiter()
        stack = chain == 0 || Watchdog.shared == nil ? [] : Watchdog.stack
    }
}

extension QueueJob {
    func run() {
        work?()
        work = nil
    }
}

/// A thread that waits for its turn on a queue. All but the semaphore is used under the lock of ``WaitingTable``.
final class QueueWaiter: @unchecked Sendable {
    enum State {
        case waiting
        /// The queue is its own: it runs its block itself.
        case entered
        /// Its block was run by another thread.
        case done
    }

    let semaphore = DispatchSemaphore(value: 0)
    var state = State.waiting
    /// What others, whom it waits for, want of a queue that it is on.
    var help: [(lane: QueueLane, job: QueueJob)] = []
}
