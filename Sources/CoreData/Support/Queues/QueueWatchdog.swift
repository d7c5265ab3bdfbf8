import Foundation
import Synchronization

/// Tells, while the use of queues is looked at (``ConcurrencyChecking``), what can stop a program one day: a context that is used off its
/// queue, queues that wait for each other in a circle, and a program's code that waits under a lock of the framework. With the stacks
/// of both sides, on standard error; each time where it was asked for, and the first time of each kind in a debug build.
enum QueueWatchdog {
    enum Mistake: Int {
        case useOffQueue, circle, waitUnderLock
    }

    /// The stack of the caller, or `nil` while nothing is looked at.
    static var stack: CallStack? { ConcurrencyChecking.isOn ? CallStack() : nil }

    /// The kinds that were told, as bits.
    private static let told = Atomic(0)

    /// Whether a mistake is to be told. In a debug build that was not asked once for each kind, since a program that was never looked
    /// at may make thousands.
    static func isToBeTold(_ mistake: Mistake) -> Bool {
        if ConcurrencyChecking.stops { return true }
        let bit = 1 << mistake.rawValue
        return told.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0
    }

    /// Writes a text and the stacks that there are to standard error, in one piece.
    static func tell(_ text: String, _ sides: [(place: String, stack: CallStack?)]) {
        let parts = sides.compactMap { side in
            side.stack.map { stack in
                (["\(side.place):"] + stack.lines().map { "  \($0)" }).joined(separator: "\n")
            }
        }
        let end = ConcurrencyChecking.stops ? [] : [advice]
        FileHandle.standardError.write(Data((["CoreData: \(text)"] + parts + end).joined(separator: "\n").utf8 + [10]))
    }

    private static let advice =
        "A debug build tells this once. CoreDataConcurrencyDebug=1 in the environment stops at each use off a queue, 0 tells nothing."

    // MARK: Locks

    /// The locks that chains of calls took for the framework's own work, in the order in which they were taken.
    private static let locks = Mutex<[UInt: [Held]]>([:])

    private enum Held {
        case lock(CallStack?)
        /// What runs under the locks before it may wait.
        case leave
    }

    /// Runs a program's code that has to wait for contexts under the caller's lock, as the handler of a migration's stage has to.
    static func allowingWaits<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard ConcurrencyChecking.isOn else { return try body() }
        note(.leave)
        defer { lockWasLeft() }
        return try body()
    }

    private static func note(_ held: Held) {
        locks.withLock { $0[CallChain.current, default: []].append(held) }
    }

    /// For what is called while the use of queues is looked at, and only then.
    static func lockWasTaken() {
        // Where it was not asked for, the stack of the wait has to do, which goes on from the place where the lock was taken.
        note(.lock(ConcurrencyChecking.stops ? CallStack() : nil))
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
        guard case .lock(let lock) = locks.withLock({ $0[CallChain.current]?.last }), isToBeTold(.waitUnderLock)
        else { return }
        tell(
            "A program's code waits for a context under the lock of a coordinator: others wait meanwhile. Read what it needs before.",
            [("It waits here", CallStack()), ("The lock was taken here", lock)])
    }
}

/// Who made a queue and who is on it, for ``QueueWatchdog``.
final class QueueWatch: Sendable {
    private let made: CallStack?
    private let taken = Mutex<CallStack?>(nil)

    /// - Parameter keepsStack: Whether it is told where the queue was made. The first stack of a thread takes a tenth of a second in a large
    ///   program, since the symbols are read for each thread.
    init(keepsStack: Bool) { made = keepsStack ? CallStack() : nil }

    /// - Parameter chain: the one that is on the queue from now on; 0 for none.
    func note(_ chain: UInt) {
        guard ConcurrencyChecking.stops else { return }
        let stack = chain == 0 ? nil : CallStack()
        taken.withLock { $0 = stack }
    }

    /// The other side of a use off the queue: who is on it, or who made it.
    var side: (place: String, stack: CallStack?) {
        if let stack = taken.withLock({ $0 }) { return ("Its queue is taken here", stack) }
        let end = ConcurrencyChecking.stops ? ", and no thread is on it" : ""
        return ("Its queue was made here\(end)", made)
    }
}
