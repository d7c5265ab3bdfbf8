import Dispatch
import Synchronization

/// Which threads wait for which contexts' queues, in the whole process, so that none waits for itself.
///
/// A thread that has the queue of one context may wait for another's: a child's work reads from its parent, and a program
/// waits for whatever it likes. Where the waiting closes a circle, none of its threads would ever go on. All of them stand
/// still, though, so one of them may as well borrow the queue that it waits for from the chain that has it: it runs its
/// block, gives the queue back, and goes on. As with a recursive lock, that block sees the other chain's work half done, at
/// the point where it waits. So who lends is one that was told to wait by a program's code, if possible, and no request of
/// the framework's in the middle of what it does.
///
/// A queue is borrowed on the borrower's own thread; the main queue stays on the main thread, which runs the block while it
/// waits. Nothing else of the circle moves before the queue is back: each waits for a queue of the next one, and the last for
/// one of the borrower's.
///
/// Each wait is noted under one lock, the last one of a circle too, which finds it. Free queues are taken and left without
/// this lock.
enum QueueWaits {
    /// What each chain of calls waits for.
    private static let waiting = Mutex<[UInt: QueueWaiter]>([:])

    /// Notes that a thread waits from now on, unless the queue is free, and breaks the circle that it closes.
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
            "\(circle.count) threads wait for each other's queues in a circle. One of them runs its block in the place of another, in the "
                + "middle of that one's work: let one of them use perform(_:), which does not wait.",
            circle.enumerated().map { ("Thread \($0 + 1) waits here", $1.stack) })
    }

    /// The waits that lead from `last` to itself, each to the one that has its queue; `nil` if none do.
    private static func circle(closedBy last: QueueWaiter, _ waiting: [UInt: QueueWaiter]) -> [QueueWaiter]? {
        var circle = [last]
        while circle.count <= waiting.count, let next = waiting[circle[circle.count - 1].queue.holdingChain] {
            if next === last { return circle.count > 1 ? circle : nil }
            circle.append(next)
        }
        return nil
    }

    /// Who of a circle shall borrow the queue that it waits for from the next one: never one whose own queue, or that of one
    /// that waits for it, is lent; the first has done nothing but run, and can always.
    private static func borrower(in circle: [QueueWaiter]) -> Int {
        func lender(_ index: Int) -> QueueWaiter { circle[(index + 1) % circle.count] }
        let able = circle.indices.filter { circle[$0].frozen == 0 && lender($0).reason == .asked }
        return able.first { circle[$0].reason == .beneath } ?? able.first ?? 0
    }

    /// A loan ends: who lent is on the queue again, and may move.
    static func giveBack(_ loan: QueueLoan) {
        waiting.withLock { _ in
            loan.queue.lend(to: loan.lender)
            loan.thaw()
        }
    }

    /// The main thread ran the block of `waiter`.
    static func workEnded(_ waiter: QueueWaiter) {
        waiting.withLock { _ in
            waiter.loan?.thaw()
            waiter.end()
        }
    }

    /// - Returns: whether `waiter` still waited, and does no longer.
    static func claim(_ waiter: QueueWaiter) -> Bool {
        waiting.withLock { waiting in
            guard waiting[waiter.chain] === waiter else { return false }
            waiting[waiter.chain] = nil
            return true
        }
    }

    /// Gives `queue`, which the caller has, to the next one of its line.
    static func handOn(_ queue: WorkQueue) {
        waiting.withLock { waiting in
            guard let next = queue.nextThread({ waiting[$0.chain] === $0 }) else { return }
            waiting[next.chain] = nil
            next.end()
        }
    }

    /// What a waiting thread was woken for: a request, or the end of its wait.
    static func request(to waiter: QueueWaiter) -> QueueWaiter? { waiting.withLock { _ in waiter.nextRequest() } }
}

/// A loan: the borrowing chain of calls runs on a queue that the lending chain holds, while the lender waits.
struct QueueLoan: Sendable {
    let queue: WorkQueue
    let lender: UInt
    private let frozen: [QueueWaiter]

    /// Lends `queue`, until when none of `frozen` may move. Under the lock of ``QueueWaits``.
    init(of queue: WorkQueue, frozen: [QueueWaiter]) {
        self.queue = queue
        self.frozen = frozen
        lender = queue.holdingChain
        for waiter in frozen { waiter.frozen += 1 }
    }

    func thaw() { for waiter in frozen { waiter.frozen -= 1 } }
}

/// A thread that waits for a context's queue.
// SAFETY: what changes is guarded by the lock of `QueueWaits`; the work is run once, by the thread that claimed it, while the
// one that gave it waits.
final class QueueWaiter: @unchecked Sendable {
    /// Why a thread waits.
    enum Reason {
        /// A program asked for a context's queue, at a point of its choosing.
        case asked
        /// A context's work needs what lies beneath the context, and may be in the middle of something.
        case beneath
    }

    let queue: WorkQueue
    let chain: UInt
    let reason: Reason
    /// Where the thread waits, while the use of queues is looked at.
    let stack = QueueWatchdog.stack
    /// In how many circles it has to stand still at the moment.
    fileprivate(set) var frozen = 0
    /// The loan that it waited for.
    fileprivate private(set) var loan: QueueLoan?
    private let semaphore = DispatchSemaphore(value: 0)
    /// The block, if the main thread runs it.
    private var work: (() -> Void)?
    /// What the main thread shall run while it waits.
    private var requests: [QueueWaiter] = []

    init(queue: WorkQueue, chain: UInt, _ reason: Reason, work: (() -> Void)? = nil) {
        self.queue = queue
        self.chain = chain
        self.reason = reason
        self.work = work
    }

    /// Lets the thread wait until its turn comes, or its block was run. Runs meanwhile what the thread is asked for.
    ///
    /// - Returns: the loan, where the turn is none of its own.
    func wait() -> QueueLoan? {
        while true {
            semaphore.wait()
            guard let request = QueueWaits.request(to: self) else { return loan }
            request.runWork()
        }
    }

    /// Runs the block on the main thread, for the thread that waits.
    func runWork() {
        CallChain.continuing(chain) { queue.holding(by: chain, takeWork) }
        QueueWaits.workEnded(self)
    }

    /// Lets go of the block before the thread that gave it goes on.
    private func takeWork() {
        let block = work
        work = nil
        block?()
    }

    // MARK: Under the lock of QueueWaits

    /// The wait ends.
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
