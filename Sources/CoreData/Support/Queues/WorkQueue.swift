import Dispatch
import Foundation
import Synchronization

/// A context's queue: the main queue, or a private one; also the line of threads that wait for a coordinator's lock.
///
/// A waiting block runs in place if its thread is already on the queue, through any number of other contexts' blocks,
/// so waits are re-entrant. Therefore a queue records the chain of waiting blocks that has it. A chain begins with a
/// thread, and continues on the main thread if the thread waits for a block there.
///
/// A private queue is a line of blocks and waiting threads. A thread runs its own block; blocks without a thread run
/// on a worker. If threads wait in a circle, one of them borrows the queue that it waits for (``QueueWaits``).
final class WorkQueue: Sendable {
    let isMain: Bool
    /// Runs the blocks for which no thread waits.
    private let worker: DispatchQueue
    /// The chain of calls that has the queue; 0 if none.
    private let holder = Atomic<UInt>(0)
    private let line = Mutex(QueueLine())

    /// The main queue, which all its contexts share.
    private static let main = WorkQueue(isMain: true, keepsOrder: true)
    /// True if threads get the queue in order of arrival. Otherwise a running thread may take it before a sleeping
    /// one, which is less fair but needs fewer context switches.
    private let keepsOrder: Bool
    /// The creator and current holder, if queue checking is on.
    let watch: QueueWatch?

    /// The main queue, or a new one.
    static func make(isMain: Bool) -> WorkQueue { isMain ? main : WorkQueue(isMain: false, keepsOrder: true) }

    /// A queue for short work of threads, without blocks.
    static func makeForLock() -> WorkQueue { WorkQueue(isMain: false, keepsOrder: false) }

    private init(isMain: Bool, keepsOrder: Bool) {
        self.isMain = isMain
        self.keepsOrder = keepsOrder
        // Contexts' queues keep the order; only these report where they were created.
        watch = ConcurrencyChecking.isOn ? QueueWatch(keepsStack: keepsOrder) : nil
        worker = isMain ? .main : DispatchQueue(label: "NSManagedObjectContext")
    }

    /// True if the caller is on the queue.
    var isCurrent: Bool {
        holder.load(ordering: .relaxed) == CallChain.current || isMain && Self.isOnMainQueue
    }

    /// The chain of calls that has the queue. It keeps the queue while it waits.
    var holdingChain: UInt { holder.load(ordering: .relaxed) }

    /// True on the main queue, which a mark identifies. On Linux, a program that calls `dispatchMain()` gives up the
    /// main thread, and the main queue then runs on any thread.
    private static var isOnMainQueue: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) != nil
    }

    private static let mainQueueMark: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    // MARK: Blocks

    /// Runs `block` on the queue later.
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

    /// Runs `block` on the queue without waiting: in place if the caller has the queue or it is free, otherwise
    /// later.
    func whenFree(_ block: @escaping () -> Void) {
        if isCurrent { return block() }
        guard !isMain, takeIfFree() else { return async(block) }
        block()
        end(nil)
    }

    /// Runs `block` on the queue and waits for it; in place if the caller is on the queue.
    ///
    /// - Parameter reason: the reason for the wait, which decides who continues to wait if threads wait for each
    ///   other.
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

    /// Waits until the caller has this private queue. The caller must not have it yet.
    ///
    /// - Returns: the argument for ``end(_:)``.
    func begin(_ reason: QueueWaiter.Reason) -> QueueLoan? {
        let chain = CallChain.current
        return takeIfFree(by: chain) ? nil : waitForTurn(of: chain, reason)
    }

    /// Leaves the queue.
    func end(_ loan: QueueLoan?) { if let loan { QueueWaits.giveBack(loan) } else { handOn() } }

    /// Runs `block` on the main thread, as part of the caller's chain.
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

    /// Records `chain` as the holder while `body` runs.
    func holding(by chain: UInt, _ body: () -> Void) {
        let previous = holder.exchange(chain, ordering: .relaxed)
        watch?.note(chain)
        body()
        watch?.note(previous)
        holder.store(previous, ordering: .relaxed)
    }

    /// The result or error of a block, as a value.
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

    /// Takes the queue for a chain if no other chain has it.
    ///
    /// - Returns: True if the queue was free; the chain now has it.
    func takeIfFree(by chain: UInt = CallChain.current) -> Bool {
        line.withLock { line in take(line, by: chain) }
    }

    private func take(_ line: borrowing QueueLine, by chain: UInt) -> Bool {
        guard holdingChain == 0, !keepsOrder || line.isEmpty else { return false }
        lend(to: chain)
        return true
    }

    /// Blocks the calling thread until it may run its block.
    ///
    /// - Returns: `nil` if the chain now has the queue; the loan if the queue is borrowed from a chain that is
    ///   waiting.
    private func waitForTurn(of chain: UInt, _ reason: QueueWaiter.Reason) -> QueueLoan? {
        var loan: QueueLoan?
        func wait() {
            repeat {
                let waiter = QueueWaiter(queue: self, chain: chain, reason)
                QueueWaits.begin(waiter)
                loan = waiter.wait()
            } while loan == nil && holdingChain != chain
        }
        // A caller that waits on the main queue stays on it, and runs the blocks requested there.
        if Self.isOnMainQueue { Self.main.holding(by: chain, wait) } else { wait() }
        return loan
    }

    /// Adds a thread to the line, unless the queue is free. Call under the lock of ``QueueWaits``.
    ///
    /// - Returns: True if the queue was free; the chain now has it.
    func enter(_ waiter: QueueWaiter) -> Bool {
        if isMain { return false }
        return line.withLock { line in
            if take(line, by: waiter.chain) { return true }
            line.append(.thread(waiter))
            return false
        }
    }

    /// Makes `chain` the holder of the queue.
    func lend(to chain: UInt) {
        holder.store(chain, ordering: .relaxed)
        watch?.note(chain)
    }

    /// Runs the first waiting block.
    private func runNext() {
        // The block is released on the queue: it may hold the last reference to a context.
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

    /// Passes the queue to the first entry of the line.
    private func handOn() {
        let isThreadNext = line.withLock { line in
            if case .thread = line.first { return true }
            leave(to: &line)
            return false
        }
        if isThreadNext { QueueWaits.handOn(self) }
    }

    /// Passes the queue to the first thread in line that `isWaiting`, or to an earlier block, or leaves it for the
    /// thread to take. Call under the lock of ``QueueWaits``.
    ///
    /// - Returns: the thread to wake.
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

    /// Records that no chain has the queue, and starts the first block of the line, if any.
    private func leave(to line: inout QueueLine) {
        lend(to: 0)
        if !line.isEmpty { worker.async(execute: runNext) }
    }
}

/// Entries that wait for a private queue, in order.
struct QueueLine {
    enum Entry: Sendable {
        case block(UncheckedSendable<() -> Void>)
        case thread(QueueWaiter)
    }

    private var entries: [Entry?] = []
    /// Index of the first entry still in line.
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

/// The chain of blocks that a thread works for: its own, or that of the thread that waits for it.
enum CallChain {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The chain that the current thread works for. Never 0.
    static var current: UInt {
        pthread_getspecific(key).map { UInt(bitPattern: $0) } ?? UInt(pthread_self())
    }

    /// Runs `body` as a part of `chain`.
    // SAFETY: a number stored as an address, which is never dereferenced.
    static func continuing(_ chain: UInt, _ body: () -> Void) {
        let previous = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: chain))
        body()
        pthread_setspecific(key, previous)
    }
}
