import Foundation
import Synchronization

/// Reports queue mistakes that can stop a program, if checking is on (``ConcurrencyChecking``): a context used off
/// its queue, queues that wait for each other in a circle, and program code that waits under a framework lock. Writes
/// both sides' stacks to standard error: every time if checking was requested, and once per kind in a debug build.
enum QueueWatchdog {
    enum Mistake: Int {
        case useOffQueue, circle, waitUnderLock
    }

    /// The caller's stack; `nil` if checking is off.
    static var stack: CallStack? { ConcurrencyChecking.isOn ? CallStack() : nil }

    /// The reported kinds, as bits.
    private static let told = Atomic(0)

    /// True if a mistake is to be reported. A debug build without a request reports each kind once, because an
    /// unchecked program may make thousands of mistakes.
    static func isToBeTold(_ mistake: Mistake) -> Bool {
        if ConcurrencyChecking.stops { return true }
        let bit = 1 << mistake.rawValue
        return told.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0
    }

    /// Writes a text and the available stacks to standard error in one write.
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
        "Debug builds report this once. The environment variable CoreDataConcurrencyDebug=1 stops at each wrong use; 0 turns reports off."

    // MARK: Locks

    /// The locks that chains of calls took for the framework's own work, in order.
    private static let locks = Mutex<[UInt: [Held]]>([:])

    private enum Held {
        case lock(CallStack?)
        /// Until this entry is removed, code may wait although the locks before it are held.
        case leave
    }

    /// Runs program code that has to wait for contexts under the caller's lock, such as the handler of a migration
    /// stage.
    static func allowingWaits<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard ConcurrencyChecking.isOn else { return try body() }
        note(.leave)
        defer { lockWasLeft() }
        return try body()
    }

    private static func note(_ held: Held) {
        locks.withLock { $0[CallChain.current, default: []].append(held) }
    }

    /// Call this only if queue checking is on.
    static func lockWasTaken() {
        // Without a request, the stack of the wait is enough: it includes the place where the lock was taken.
        note(.lock(ConcurrencyChecking.stops ? CallStack() : nil))
    }

    static func lockWasLeft() {
        locks.withLock { locks in
            let chain = CallChain.current
            _ = locks[chain]?.popLast()
            if locks[chain]?.isEmpty == true { locks[chain] = nil }
        }
    }

    /// Records that program code waits for a context's queue.
    static func programWaits() {
        guard case .lock(let lock) = locks.withLock({ $0[CallChain.current]?.last }), isToBeTold(.waitUnderLock)
        else { return }
        tell(
            "Code called under the lock of a coordinator waits for a context, and so blocks others. Read what it needs in advance.",
            [("Stack of the waiting code", CallStack()), ("Stack that took the lock", lock)])
    }
}

/// The creator and current holder of a queue, for ``QueueWatchdog``.
final class QueueWatch: Sendable {
    private let made: CallStack?
    private let taken = Mutex<CallStack?>(nil)

    /// - Parameter keepsStack: true to record the creation stack. A thread's first stack takes a tenth of a second in
    ///   a large program, because symbols are read per thread.
    init(keepsStack: Bool) { made = keepsStack ? CallStack() : nil }

    /// - Parameter chain: the chain that now has the queue; 0 for none.
    func note(_ chain: UInt) {
        guard ConcurrencyChecking.stops else { return }
        let stack = chain == 0 ? nil : CallStack()
        taken.withLock { $0 = stack }
    }

    /// The other side of a use off the queue: its holder, or its creator.
    var side: (place: String, stack: CallStack?) {
        if let stack = taken.withLock({ $0 }) { return ("Stack that uses its queue", stack) }
        let end = ConcurrencyChecking.stops ? ", and no thread uses it" : ""
        return ("Stack that created its queue\(end)", made)
    }
}
