import Dispatch
import Foundation

/// Says on standard error what contexts do to each other's queues: on request, by `COREDATA_WATCHDOG=1` in the environment.
///
/// - A circle of waiting that was opened, with the stack of each thread in it.
/// - A thread that waits for a queue for more than five seconds, with its stack and that of whoever it waits for, if that waits too.
/// - User code (a predicate that is code, a value transformer) that would have run under the coordinator's lock.
///
/// Uses of objects off their queue are named by `-com.apple.CoreData.ConcurrencyDebug 1`, as on Apple's systems.
final class Watchdog: Sendable {
    static let shared: Watchdog? =
        ["", "0"].contains(ProcessInfo.processInfo.environment["COREDATA_WATCHDOG"] ?? "") ? nil : Watchdog()

    private static let patience = DispatchTimeInterval.seconds(5)

    /// The stack of the calling thread, without the watchdog's own part.
    static var stack: [String] { Array(Thread.callStackSymbols.dropFirst(2).prefix(24)) }

    /// Sleeps until the job's thread is woken; says so where that takes long.
    static func wait(_ job: QueueJob) {
        guard let waiter = job.waiter else { return }
        guard let shared else { return waiter.semaphore.wait() }
        while waiter.semaphore.wait(timeout: .now() + patience) == .timedOut {
            shared.say("a thread has waited for the queue of a context for more than \(patience)", [job.stack])
        }
    }

    func didOpenCircle(of jobs: [QueueJob]) {
        say(
            "\(jobs.count) threads waited for each other's queues; one of them does what another wants of it",
            jobs.map(\.stack))
    }

    func say(_ what: String, _ stacks: [[String]]) {
        var text = "CoreData watchdog: \(what)\n"
        for (number, stack) in stacks.enumerated() {
            text += "  thread \(number + 1):\n" + stack.map { "    \($0)\n" }.joined()
        }
        FileHandle.standardError.write(Data(text.utf8))
    }
}
