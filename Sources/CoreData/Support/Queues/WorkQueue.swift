import Dispatch
import Foundation
import Synchronization

/// The queue of a context: the main queue, or one of its own; also what a lock of a coordinator waits in.
///
/// A block that waits runs in place when its thread is already on the queue, however many other contexts' blocks it went
/// through, so that waiting is re-entrant. For that it is noted which chain of waiting blocks is on a queue: a chain begins
/// with a thread, and goes on where that thread waits for a block that runs on another one, the main thread.
///
/// A private queue is a line of blocks and of threads that wait for their turn. A thread runs its block itself, blocks
/// without one run on a worker. Where threads wait in a circle for each other's queues, one of them borrows the queue that it
/// waits for (``QueueWaits``).
final class WorkQueue: Sendable {
    let isMain: Bool
    /// Runs the blocks that no thread waits for.
    private let worker: DispatchQueue
    /// The chain of calls that is on the queue at the moment; 0 while there is none.
    private let holder = Atomic<UInt>(0)
    private let line = Mutex(QueueLine())

    /// The main queue, which all its contexts share.
    private static let main = WorkQueue(isMain: true, keepsOrder: true)
    /// Whether threads get the queue in the order in which they came. Otherwise who runs may take it before those that have
    /// to wake up first, which is less fair and costs fewer changes of threads.
    private let keepsOrder: Bool
    /// Who made the queue and who is on it, while the use of queues is looked at.
    let watch: QueueWatch?

    /// The main queue, or a new one.
    static func make(isMain: Bool) -> WorkQueue { isMain ? main : WorkQueue(isMain: false, keepsOrder: true) }

    /// A queue for short work of threads, without blocks.
    static func makeForLock() -> WorkQueue { WorkQueue(isMain: false, keepsOrder: false) }

    private init(isMain: Bool, keepsOrder: Bool) {
        self.isMain = isMain
        self.keepsOrder = keepsOrder
        // Only contexts tell where their queue was made.
        watch = ConcurrencyChecking.isOn ? QueueWatch(keepsStack: keepsOrder) : nil
        worker = isMain ? .main : DispatchQueue(label: "NSManagedObjectContext")
    }

    /// Whether the caller is on the queue.
    var isCurrent: Bool {
        holder.load(ordering: .relaxed) == CallChain.current || isMain && Self.isOnMainQueue
    }

    /// The chain of calls that is on the queue, which stays true for as long as that chain waits.
    var holdingChain: UInt { holder.load(ordering: .relaxed) }

    /// On Linux a program that ends in `dispatchMain()` leaves the main thread for good: the main queue then runs on any
    /// thread, and is known by a mark.
    private static var isOnMainQueue: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) != nil
    }

    private static let mainQueueMark: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    // MARK: Blocks

    /// Runs `block` on the queue, some time later.
    func async(_ block: @escaping () -> Void) {
        let block = UncheckedSendable(block)
        if isMain {
            return worker.async { self.holding(by: CallChain.current, block.value) }
        }
        line.withLock { line in
            let isIdle = line.isEmpty && holdingChain == 0
            line.append(.block(block))
            if isIdle { worker.async(execute: runNext) }
        }
    }

    /// Runs `block` on the queue without ever waiting for it: in place if the caller is on the queue or nobody is, or else some
    /// time later.
    func whenFree(_ block: @escaping () -> Void) {
        if isCurrent { return block() }
        guard !isMain, takeIfFree() else { return async(block) }
        block()
        end(nil)
    }

    /// Runs `block` on the queue and waits for it; in place if the caller is on the queue.
    ///
    /// - Parameter reason: why the caller waits, which decides who waits on where threads wait for each other.
    func sync<Result, Failure: Error>(
        _ reason: QueueWaiter.Reason = .asked, _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if isCurrent { return try block() }
        if watch != nil, reason == .asked { QueueWatchdog.programWaits() }
        if isMain { return try onMainThread(reason, block) }
        let loan = begin(reason)
        defer { end(loan) }
        return try block()
    }

    /// Waits for a private queue, on which the caller is not, until the caller is on it.
    ///
    /// - Returns: what ``end(_:)`` has to be told.
    func begin(_ reason: QueueWaiter.Reason) -> QueueLoan? {
        let chain = CallChain.current
        return takeIfFree(by: chain) ? nil : waitForTurn(of: chain, reason)
    }

    /// Leaves the queue.
    func end(_ loan: QueueLoan?) { if let loan { QueueWaits.giveBack(loan) } else { handOn() } }

    /// Lets the main thread run `block`, in the name of the caller's chain.
    private func onMainThread<Result, Failure: Error>(
        _ reason: QueueWaiter.Reason, _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var result: Swift.Result<Result, Failure>?
        withoutActuallyEscaping(block) { block in
            let work = { result = Self.catching(block) }
            let waiter = QueueWaiter(queue: self, chain: CallChain.current, reason, work: work)
            QueueWaits.begin(waiter)
            worker.async { if QueueWaits.claim(waiter) { waiter.runWork() } }
            _ = waiter.wait()
        }
        guard let result else { preconditionFailure("A queue did not run a block that was waited for.") }
        return try result.get()
    }

    /// Notes `chain` while `body` runs.
    func holding(by chain: UInt, _ body: () -> Void) {
        let previous = holder.exchange(chain, ordering: .relaxed)
        watch?.note(chain)
        body()
        watch?.note(previous)
        holder.store(previous, ordering: .relaxed)
    }

    /// What a block returns or throws, as a value.
    static func catching<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) -> Swift.Result<Result, Failure> {
        do {
            return .success(try block())
        } catch {
            return .failure(error)
        }
    }

    // MARK: The line of a private queue

    /// - Returns: whether the queue was free, and is the chain's now.
    func takeIfFree(by chain: UInt = CallChain.current) -> Bool {
        line.withLock { line in take(line, by: chain) }
    }

    private func take(_ line: borrowing QueueLine, by chain: UInt) -> Bool {
        guard holdingChain == 0, !keepsOrder || line.isEmpty else { return false }
        lend(to: chain)
        return true
    }

    /// Lets the calling thread wait until it may run its block.
    ///
    /// - Returns: `nil` when the queue is the chain's; the loan where another chain keeps it, which waits itself.
    private func waitForTurn(of chain: UInt, _ reason: QueueWaiter.Reason) -> QueueLoan? {
        var loan: QueueLoan?
        func wait() {
            repeat {
                let waiter = QueueWaiter(queue: self, chain: chain, reason)
                QueueWaits.begin(waiter)
                loan = waiter.wait()
            } while loan == nil && holdingChain != chain
        }
        // A caller that waits on the main queue stays on it, and runs there what it is asked for meanwhile.
        if Self.isOnMainQueue { Self.main.holding(by: chain, wait) } else { wait() }
        return loan
    }

    /// Puts a thread into the line, unless its turn is now. Under the lock of ``QueueWaits``.
    ///
    /// - Returns: whether the queue was free, and is the chain's now.
    func enter(_ waiter: QueueWaiter) -> Bool {
        if isMain { return false }
        return line.withLock { line in
            if take(line, by: waiter.chain) { return true }
            line.append(.thread(waiter))
            return false
        }
    }

    /// Makes `chain` the one that is on the queue.
    func lend(to chain: UInt) {
        holder.store(chain, ordering: .relaxed)
        watch?.note(chain)
    }

    /// Runs the first block of the line.
    private func runNext() {
        // The block goes away on the queue: it may be the last to hold a context.
        runFirst()
        handOn()
    }

    @inline(never)
    private func runFirst() {
        let chain = CallChain.current
        let block = line.withLock { line in
            guard case .block(let block) = line.first else {
                preconditionFailure("A context's queue has no block for the thread that was to run it.")
            }
            line.removeFirst()
            lend(to: chain)
            return block
        }
        block.value()
    }

    /// Lets what is first in the line have the queue.
    private func handOn() {
        let isThreadNext = line.withLock { line in
            if case .thread = line.first { return true }
            leave(to: &line)
            return false
        }
        if isThreadNext { QueueWaits.handOn(self) }
    }

    /// Gives the queue to the first thread of the line that `isWaiting`, or to the block that is before it; or leaves it for
    /// the thread to take. Under the lock of ``QueueWaits``.
    ///
    /// - Returns: the thread that shall wake up.
    func nextThread(_ isWaiting: (QueueWaiter) -> Bool) -> QueueWaiter? {
        line.withLock { line in
            while case .thread(let waiter) = line.first {
                line.removeFirst()
                guard isWaiting(waiter) else { continue }
                lend(to: keepsOrder ? waiter.chain : 0)
                return waiter
            }
            leave(to: &line)
            return nil
        }
    }

    /// No chain is on the queue any more: the block that is first in the line runs next, if there is one.
    private func leave(to line: inout QueueLine) {
        lend(to: 0)
        if !line.isEmpty { worker.async(execute: runNext) }
    }
}

/// What waits for a private queue, in its order.
struct QueueLine {
    enum Entry: Sendable {
        case block(UncheckedSendable<() -> Void>)
        case thread(QueueWaiter)
    }

    private var entries: [Entry?] = []
    /// The index of the first entry that is still in the line.
    private var start = 0

    var isEmpty: Bool { start == entries.count }
    var first: Entry? { isEmpty ? nil : entries[start] }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func removeFirst() {
        entries[start] = nil
        start += 1
        if start == entries.count {
            entries.removeAll(keepingCapacity: start <= 16)
            start = 0
        } else if start >= 64, start * 2 > entries.count {
            entries.removeFirst(start)
            start = 0
        }
    }
}

/// The chain of blocks that a thread's work belongs to: its own, or that of the thread which waits for it.
enum CallChain {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The chain that the thread works for. Never 0.
    static var current: UInt {
        pthread_getspecific(key).map { UInt(bitPattern: $0) } ?? UInt(pthread_self())
    }

    /// Runs `body` as a part of `chain`.
    // SAFETY: a number in the place of an address, which is never followed.
    static func continuing(_ chain: UInt, _ body: () -> Void) {
        let previous = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: chain))
        body()
        pthread_setspecific(key, previous)
    }
}
