import Foundation
import Synchronization

/// Tells, while the use of queues is checked (``ConcurrencyChecking``), what can stop a program one day: a context that is used off its
/// queue, queues that wait for each other in a circle, and a program's code that waits under a lock of the framework. Each time with
/// the stacks of both sides, on standard error.
enum QueueWatchdog {
    /// The stack of the caller, or `nil` while nothing is checked.
    static var stack: CallStack? { ConcurrencyChecking.isOn ? CallStack() : nil }

    /// Writes a text and the stacks to standard error, in one piece.
    static func tell(_ text: String, _ sides: [(place: String, stack: CallStack?)]) {
        let parts = sides.map { side in
            (["\(side.place):"] + (side.stack?.lines().map { "  \($0)" } ?? [])).joined(separator: "\n")
        }
        FileHandle.standardError.write(Data((["CoreData: \(text)"] + parts).joined(separator: "\n").utf8 + [10]))
    }

    // MARK: Locks

    /// The locks that chains of calls took for the framework's own work, in the order in which they were taken.
    private static let locks = Mutex<[UInt: [CallStack]]>([:])

    /// For what is called while the use of queues is checked, and only then.
    static func lockWasTaken() {
        let stack = CallStack()
        locks.withLock { $0[CallChain.current, default: []].append(stack) }
    }

    static func lockWasLeft() {
        locks.withLock { locks in
            let chain = CallChain.current
            _ = locks[chain]?.popLast()
            if locks[chain]?.isEmpty == true { locks[chain] = nil }
        }
    }

    /// A program's code waits for a context's queue.
    static func programWaits() {
        guard let lock = locks.withLock({ $0[CallChain.current]?.last }) else { return }
        tell(
            "A program's code waits for a context under the lock of a coordinator: others wait meanwhile. Read what it needs before.",
            [("It waits here", CallStack()), ("The lock was taken here", lock)])
    }
}

/// Who made a queue and who is on it, for ``QueueWatchdog``.
final class QueueWatch: Sendable {
    let made = CallStack()
    private let taken = Mutex<CallStack?>(nil)

    /// - Parameter chain: the one that is on the queue from now on; 0 for none.
    func note(_ chain: UInt) {
        let stack = chain == 0 ? nil : CallStack()
        taken.withLock { $0 = stack }
    }

    /// The other side of a use off the queue: who is on it, or who made it.
    var side: (place: String, stack: CallStack?) {
        if let stack = taken.withLock({ $0 }) { return ("Its queue is taken here", stack) }
        return ("Its queue was made here, and no thread is on it", made)
    }
}
