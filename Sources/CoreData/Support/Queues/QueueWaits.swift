import Dispatch
import Synchronization

/// Process-wide record of the threads that wait for contexts' queues; prevents deadlocks.
///
/// A thread that has one context's queue may wait for another's: a child's work reads from its parent, and a program
/// may wait for any context. If the waits form a circle, none of its threads could continue. As all of them are
/// waiting, one may borrow the queue that it waits for from the chain that has it: it runs its block, returns the
/// queue and continues. As with a recursive lock, the block sees the other chain's work half done. Therefore the
/// lender is, if possible, a chain that a program's code caused to wait, not a framework request in the middle of its
/// work.
///
/// The borrower runs on its own thread, except that blocks for the main queue run on the main thread while it waits.
/// The rest of the circle is blocked until the queue is returned: each member waits for a queue of the next, and the
/// last for one of the borrower's.
///
/// Each wait is recorded under one lock, so the wait that closes a circle finds it. Free queues are taken and left
/// without this lock.
enum QueueWaits {
    /// The wait of each chain of calls.
    private static let waiting = Mutex<[UInt: QueueWaiter]>([:])

    /// Records the start of a wait, unless the queue is free, and breaks the circle that it closes.
    static func begin(_ waiter: QueueWaiter) {
        let broken = waiting.withLock { waiting -> [QueueWaiter] in
            if waiter.queue.enter(waiter) {
                waiter.end()
                return []
            }
            waiting[waiter.chain] = waiter
            guard let circle = circle(closedBy: waiter, waiting) else { return [] }
            let index = borrower(in: circle)
            let borrower = circle[index]
            waiting[borrower.chain] = nil
            let loan = QueueLoan(of: borrower.queue, frozen: circle.filter { $0 !== borrower })
            if borrower.queue.isMain {
                circle[(index + 1) % circle.count].ask(borrower, for: loan)
            } else {
                borrower.queue.lend(to: borrower.chain)
                borrower.end(loan)
            }
            return circle
        }
        if ConcurrencyChecking.isOn, !broken.isEmpty, QueueWatchdog.isToBeTold(.circle) { tell(broken) }
    }

    private static func tell(_ circle: [QueueWaiter]) {
        QueueWatchdog.tell(
            "\(circle.count) threads wait for each other's queues. To avoid a deadlock, one runs its block on another's queue, in the "
                + "middle of that queue's work. Use perform(_:) in one of them, which does not wait.",
            circle.enumerated().map { ("Stack of waiting thread \($0 + 1)", $1.stack) })
    }

    /// The waits that form a circle with `last`, each followed by the one that has its queue; `nil` if there is no
    /// circle.
    private static func circle(closedBy last: QueueWaiter, _ waiting: [UInt: QueueWaiter]) -> [QueueWaiter]? {
        var circle = [last]
        while circle.count <= waiting.count, let next = waiting[circle[circle.count - 1].queue.holdingChain] {
            if next === last { return circle.count > 1 ? circle : nil }
            circle.append(next)
        }
        return nil
    }

    /// The index of the waiter that borrows a queue from the next one. Excludes waiters whose own queue, or that of a
    /// waiter for it, is lent. The first waiter was running until now, and can always borrow.
    private static func borrower(in circle: [QueueWaiter]) -> Int {
        func lender(_ index: Int) -> QueueWaiter { circle[(index + 1) % circle.count] }
        let able = circle.indices.filter { circle[$0].frozen == 0 && lender($0).reason == .asked }
        return able.first { circle[$0].reason == .beneath } ?? able.first ?? 0
    }

    /// Ends a loan: the lender has its queue again and may continue.
    static func giveBack(_ loan: QueueLoan) {
        waiting.withLock { _ in
            loan.queue.lend(to: loan.lender)
            loan.thaw()
        }
    }

    /// Records that the main thread ran the block of `waiter`.
    static func workEnded(_ waiter: QueueWaiter) {
        waiting.withLock { _ in
            waiter.loan?.thaw()
            waiter.end()
        }
    }

    /// Ends the wait of `waiter`, if no other thread has ended it.
    ///
    /// - Returns: True if `waiter` was still waiting. It no longer waits.
    static func claim(_ waiter: QueueWaiter) -> Bool {
        waiting.withLock { waiting in
            guard waiting[waiter.chain] === waiter else { return false }
            waiting[waiter.chain] = nil
            return true
        }
    }

    /// Passes `queue`, which the caller has, to the next entry in line.
    static func handOn(_ queue: WorkQueue) {
        waiting.withLock { waiting in
            guard let next = queue.nextThread({ waiting[$0.chain] === $0 }) else { return }
            waiting[next.chain] = nil
            next.end()
        }
    }

    /// The request that a waiting thread was woken for; `nil` if its wait ended.
    static func request(to waiter: QueueWaiter) -> QueueWaiter? { waiting.withLock { _ in waiter.nextRequest() } }
}

/// A loan: the borrowing chain of calls runs on a queue that the lending chain holds, while the lender waits.
struct QueueLoan: Sendable {
    let queue: WorkQueue
    let lender: UInt
    private let frozen: [QueueWaiter]

    /// Lends `queue`. The `frozen` waiters cannot continue until it is returned. Call under the lock of
    /// ``QueueWaits``.
    init(of queue: WorkQueue, frozen: [QueueWaiter]) {
        self.queue = queue
        self.frozen = frozen
        lender = queue.holdingChain
        for waiter in frozen { waiter.frozen += 1 }
    }

    func thaw() { for waiter in frozen { waiter.frozen -= 1 } }
}

/// A thread that waits for a context's queue.
// SAFETY: the lock of `QueueWaits` guards mutable state. The thread that claimed the work runs it once, while the
// thread that gave it waits.
final class QueueWaiter: @unchecked Sendable {
    /// The reason for a wait.
    enum Reason {
        /// A program asked for a context's queue, at a point of its choice.
        case asked
        /// The wait of a context's work for its coordinator or parent. The work may be half done.
        case beneath
    }

    let queue: WorkQueue
    let chain: UInt
    let reason: Reason
    /// The stack of the waiting thread, if queue checking is on.
    let stack = QueueWatchdog.stack
    /// Number of circles in which it is currently blocked.
    fileprivate(set) var frozen = 0
    /// The loan that ended the wait.
    fileprivate private(set) var loan: QueueLoan?
    private let semaphore = DispatchSemaphore(value: 0)
    /// The block, if the main thread is to run it.
    private var work: (() -> Void)?
    /// Blocks for the main thread to run while it waits.
    private var requests: [QueueWaiter] = []

    init(queue: WorkQueue, chain: UInt, _ reason: Reason, work: (() -> Void)? = nil) {
        self.queue = queue
        self.chain = chain
        self.reason = reason
        self.work = work
    }

    /// Blocks the thread until its turn, or until its block was run. While it waits, runs the blocks requested of it.
    ///
    /// - Returns: the loan if the queue is borrowed.
    func wait() -> QueueLoan? {
        while true {
            semaphore.wait()
            guard let request = QueueWaits.request(to: self) else { return loan }
            request.runWork()
        }
    }

    /// Runs the block on the main thread for the waiting thread.
    func runWork() {
        CallChain.continuing(chain) { queue.holding(by: chain, takeWork) }
        QueueWaits.workEnded(self)
    }

    /// Releases the block before the thread that gave it continues.
    private func takeWork() {
        let block = work
        work = nil
        block?()
    }

    // MARK: Under the lock of QueueWaits

    /// Ends the wait.
    fileprivate func end(_ loan: QueueLoan? = nil) {
        self.loan = loan
        semaphore.signal()
    }

    /// Asks the waiting main thread to run the block of `borrower`.
    fileprivate func ask(_ borrower: QueueWaiter, for loan: QueueLoan) {
        borrower.loan = loan
        requests.append(borrower)
        semaphore.signal()
    }

    fileprivate func nextRequest() -> QueueWaiter? { requests.isEmpty ? nil : requests.removeFirst() }
}
