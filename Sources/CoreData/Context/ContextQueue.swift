import Dispatch
import Foundation
import Synchronization

/// The queue of a context: the main queue, or one of its own.
///
/// A block that waits runs in place when its thread is already on the queue, however many other contexts' blocks it went
/// through, so that waiting is re-entrant. For that it is noted which chain of waiting blocks is on a queue: a chain begins
/// with a thread, and goes on where that thread waits for a block that runs on another one, the main thread.
final class ContextQueue: Sendable {
    let isMain: Bool
    private let queue: DispatchQueue
    private let holder: Holder

    /// The chain of calls that is on a queue at the moment; 0 while there is none.
    private final class Holder: Sendable {
        let chain = Atomic<UInt>(0)

        /// Notes `chain` while `body` runs.
        func holding(by chain: UInt, _ body: () -> Void) {
            let previous = self.chain.exchange(chain, ordering: .relaxed)
            body()
            self.chain.store(previous, ordering: .relaxed)
        }
    }

    /// The main queue's, which all contexts of the main queue share.
    private static let mainHolder = Holder()

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMain = type == .mainQueueConcurrencyType
        queue = isMain ? .main : DispatchQueue(label: "NSManagedObjectContext")
        holder = isMain ? Self.mainHolder : Holder()
    }

    /// Whether the caller is on the queue.
    var isCurrent: Bool {
        holder.chain.load(ordering: .relaxed) == CallChain.current || isMain && Self.isOnMainQueue
    }

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

    /// Runs `block` on the queue, some time later.
    func async(_ block: @escaping () -> Void) {
        let work = UncheckedSendable(block)
        queue.async { self.holder.holding(by: CallChain.current, work.value) }
    }

    /// Runs `block` on the queue and waits for it; in place if the caller is on the queue.
    func sync<Result, Failure: Error>(_ block: () throws(Failure) -> Result) throws(Failure) -> Result {
        if isCurrent { return try block() }
        var result: Swift.Result<Result, Failure>?
        let chain = CallChain.current
        withoutActuallyEscaping(block) { block in
            let work = UncheckedSendable(block)
            let run = {
                self.queue.sync {
                    CallChain.continuing(chain) {
                        self.holder.holding(by: chain) { result = Self.catching(work.value) }
                    }
                }
            }
            // A caller that waits on the main queue stays on it.
            if Self.isOnMainQueue { Self.mainHolder.holding(by: chain, run) } else { run() }
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

/// The chain of blocks that a thread's work belongs to: its own, or that of the thread which waits for it.
private enum CallChain {
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
