import Dispatch
import Foundation
import Synchronization

// Contexts wait for each other in both directions: a child asks its parent while its own block runs, and a block of the parent
// may wait for one of the child. Queues that know nothing of each other would then stand still. So the queues of all contexts keep
// one table of who is on which queue and who waits for which, under one lock, and a circle of waiting is seen when it closes. It is
// opened where that is least of a surprise: a thread that stands in the middle of its own block and waits for another one does
// the work that is asked of its queue meanwhile, as if it had called it (see `WaitingTable`).

/// The queue of a context: the main queue, or one of its own. Blocks run in the order in which they come.
///
/// A block that waits runs on the calling thread, or on the main thread if the queue is the main queue; in place when its thread is
/// already on the queue, however many other contexts' blocks it went through, so that waiting is re-entrant.
/// For that it is noted which chain of waiting blocks is on a queue: a chain begins with a thread, and goes on where that thread
/// waits for a block that runs on another one, the main thread.
final class ContextQueue: Sendable {
    let isMain: Bool
    private let lane: QueueLane

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMain = type == .mainQueueConcurrencyType
        lane = isMain ? .main : QueueLane(DispatchQueue(label: "NSManagedObjectContext"))
    }

    /// Whether the caller is on the queue.
    var isCurrent: Bool { lane.holder.load(ordering: .relaxed) == CallChain.current || isMain && MainQueue.isCurrent }

    /// Runs `block` on the queue, some time later.
    func async(_ block: @escaping () -> Void) {
        let job = QueueJob(chain: 0, isUpward: false, UncheckedSendable(block))
        if isMain { lane.runOnMainQueue(job) } else { lane.add(job) }
    }

    /// Runs `block` on the queue and waits for it; in place if the caller is on the queue.
    ///
    /// - Parameter isUpward: whether a child context asks its parent, rather than a program any context.
    func sync<Result, Failure: Error>(
        isUpward: Bool = false, _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if isCurrent { return try block() }
        let chain = CallChain.current
        if !isMain, lane.enterIfFree(chain) {
            defer { lane.leave() }
            return try block()
        }
        var result: Swift.Result<Result, Failure>?
        withoutActuallyEscaping(block) { block in
            let work = UncheckedSendable { result = Self.catching(block) }
            // Whoever waits on the main queue stays on it.
            let wait = { self.lane.wait(QueueJob(chain: chain, isUpward: isUpward, work)) }
            if MainQueue.isCurrent { QueueLane.main.holding(by: chain, wait) } else { wait() }
        }
        guard let result else { preconditionFailure("A queue did not run a block that was waited for.") }
        return try result.get()
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
}

enum MainQueue {
    /// On Linux a program that ends in `dispatchMain()` leaves the main thread for good: the main queue then runs on any
    /// thread, and is known by a mark.
    static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mark) != nil }

    private static let mark: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()
}
