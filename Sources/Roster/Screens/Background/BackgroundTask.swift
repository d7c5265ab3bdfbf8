import Foundation
import Synchronization

/// Work that goes on beside the keys, on a thread of its own. Its result is handed over once, to the main thread.
// SAFETY: the lock guards the result, which the thread of the work writes and the main thread takes.
final class BackgroundTask<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private let ended = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?
    let stop = StopFlag()
    let began = ContinuousClock.now

    /// Begins the work.
    ///
    /// - Parameters:
    ///   - whenDone: called on the main queue when the result is there.
    ///   - work: runs on another thread; it ends soon after the flag is raised.
    // SAFETY: `work` is used by the new thread alone, and `whenDone` called on the main thread, which made it.
    init(whenDone: @escaping () -> Void, _ work: @escaping (StopFlag) throws -> Value) {
        // The one is used by the new thread alone, the other called on the main thread, which made it.
        nonisolated(unsafe) let work = work
        nonisolated(unsafe) let whenDone = whenDone
        let thread = Thread { [self] in
            let made = Result { try work(stop) }
            lock.withLock { result = made }
            ended.signal()
            DispatchQueue.main.async { whenDone() }
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// The result, given once; `nil` while the work goes on.
    func take() -> Result<Value, any Error>? {
        lock.withLock {
            defer { result = nil }
            return result
        }
    }

    /// Waits for the result, but not longer than `time`, however the clock is set meanwhile. Answers whether it is there.
    func wait(_ time: Duration) -> Bool {
        guard ended.wait(timeout: .now() + time / .seconds(1)) == .success else { return false }
        // The next one that waits finds it too.
        ended.signal()
        return true
    }
}

/// Raised by the main thread when nothing needs the result of some work any more.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isRaised: Bool { flag.load(ordering: .acquiring) }

    func raise() { flag.store(true, ordering: .releasing) }
}

/// What is said of work that goes on, in the status line.
enum Activity {
    private static let frames = ["|", "/", "-", "\\"]

    /// `/ opening 1.2 s`: the sign turns while the work goes on. From the second minute on without tenths.
    static func text(_ what: String, since began: ContinuousClock.Instant, now: ContinuousClock.Instant = .now)
        -> String
    {
        let tenths = Int((now - began) / .milliseconds(100))
        let seconds = tenths == 0 ? "" : tenths < 600 ? " \(tenths / 10).\(tenths % 10) s" : " \(tenths / 10) s"
        return "\(frames[tenths / 2 % frames.count]) \(what)\(seconds)"
    }

    /// How often the sign turns.
    static let interval = Duration.milliseconds(200)
}
