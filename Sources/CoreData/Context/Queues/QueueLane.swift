import Dispatch
import Synchronization

/// What stands before one queue: the chain that is on it, and the jobs that wait for their turn.
final class QueueLane: @unchecked Sendable {
    /// The chain that is on the queue, 0 while none is. Written under the lock of ``WaitingTable`` or by the chain itself.
    let holder = Atomic<UInt>(0)
    private let queue: DispatchQueue
    /// Used under the lock of ``WaitingTable``. The main queue keeps here only what is waited for.
    private var jobs: [QueueJob] = []

    private var table: WaitingTable { .shared }

    /// The main queue's, which all contexts of the main queue share.
    static let main = QueueLane(.main)

    init(_ queue: DispatchQueue) { self.queue = queue }

    private var isMain: Bool { self === Self.main }

    /// Notes `chain` as the one on the queue while `body` runs.
    func holding(by chain: UInt, _ body: () -> Void) {
        let previous = holder.exchange(chain, ordering: .relaxed)
        body()
        holder.store(previous, ordering: .relaxed)
    }

    // MARK: A queue of its own

    /// Takes the queue for `chain` if it is free and none waits.
    func enterIfFree(_ chain: UInt) -> Bool {
        table.locked {
            guard holder.load(ordering: .relaxed) == 0, jobs.isEmpty else { return false }
            holder.store(chain, ordering: .relaxed)
            return true
        }
    }

    /// Gives the queue to the next job.
    func leave() {
        table.locked {
            holder.store(0, ordering: .relaxed)
            goOn()
        }
    }

    /// Puts a job at the end that nobody waits for.
    func add(_ job: QueueJob) {
        table.locked {
            jobs.append(job)
            if holder.load(ordering: .relaxed) == 0, jobs.count == 1 { goOn() }
        }
    }

    /// Lets the first job begin, under the lock, where the queue is free.
    private func goOn() {
        guard let first = jobs.first else { return }
        guard let waiter = first.waiter else { return queue.async { self.runFirst() } }
        jobs.removeFirst()
        holder.store(first.chain, ordering: .relaxed)
        waiter.state = .entered
        waiter.semaphore.signal()
    }

    /// Runs the first job on this thread, and leaves the queue.
    private func runFirst() {
        let job = table.locked { () -> QueueJob? in
            guard holder.load(ordering: .relaxed) == 0, let first = jobs.first, first.waiter == nil else { return nil }
            jobs.removeFirst()
            holder.store(CallChain.current, ordering: .relaxed)
            return first
        }
        guard let job else { return }
        job.run()
        leave()
    }

    // MARK: The main queue

    /// Runs a job there that nobody waits for.
    func runOnMainQueue(_ job: QueueJob) {
        queue.async { self.holding(by: CallChain.current, job.run) }
    }

    /// Runs a job there that a thread waits for, unless another has done it meanwhile.
    private func runAwaited(_ job: QueueJob) {
        guard table.locked({ withdraw(job) }) else { return }
        help(job)
    }

    // MARK: Waiting

    /// Waits until the job was done, and does meanwhile what those want whom it waits for.
    func wait(_ job: QueueJob) {
        guard let waiter = job.waiter else { return }
        let (outer, circle) = table.locked {
            jobs.append(job)
            // The queue may have become free meanwhile.
            if !isMain, holder.load(ordering: .relaxed) == 0, jobs.count == 1 { goOn() }
            return table.add(job, self)
        }
        if !circle.isEmpty { Watchdog.shared?.didOpenCircle(of: circle) }
        if isMain { queue.async { self.runAwaited(job) } }
        while true {
            Watchdog.wait(job)
            let (state, help) = table.locked {
                let help = waiter.help
                waiter.help = []
                if help.isEmpty && waiter.state != .waiting { table.remove(job.chain, restoring: outer) }
                return (waiter.state, help)
            }
            for (lane, job) in help { lane.help(job) }
            if !help.isEmpty || state == .waiting { continue }
            if state == .entered {
                job.run()
                leave()
            }
            return
        }
    }

    /// Does a job in the place of the thread that waits for it, which goes on then.
    private func help(_ job: QueueJob) {
        CallChain.continuing(job.chain) { holding(by: job.chain, job.run) }
        table.locked { job.waiter?.state = .done }
        job.waiter?.semaphore.signal()
    }

    /// Takes a job out that did not begin, under the lock.
    ///
    /// - Returns: whether it was still there.
    func withdraw(_ job: QueueJob) -> Bool {
        guard let place = jobs.firstIndex(where: { $0 === job }) else { return false }
        jobs.remove(at: place)
        return true
    }
}
