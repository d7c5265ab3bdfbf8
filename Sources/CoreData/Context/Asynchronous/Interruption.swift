import Foundation

/// Lets one thread stop what another one reads.
final class Interruption: @unchecked Sendable {
    private let lock = NSLock()
    private var isInterrupted = false
    /// How to stop what runs now; `nil` while nothing does.
    private var stop: (() -> Void)?

    /// Stops the work that runs, and all that would begin later.
    func interrupt() {
        lock.withLock {
            isInterrupted = true
            stop?()
        }
    }

    /// - Throws: 3072 after ``interrupt()``.
    func check() throws {
        if lock.withLock({ isInterrupted }) { throw Self.error }
    }

    /// Runs `body`, which `stop` stops. Once this has returned, `stop` is not called any more.
    ///
    /// - Throws: 3072 where it was interrupted, whatever `body` gave; else what `body` throws.
    func running<Result>(stop: @escaping () -> Void, _ body: () throws -> Result) throws -> Result {
        try lock.withLock {
            if isInterrupted { throw Self.error }
            self.stop = stop
        }
        let outcome = Swift.Result { try body() }
        lock.withLock { self.stop = nil }
        try check()
        return try outcome.get()
    }

    private static var error: NSError {
        CoreDataError.make(3072, "The fetch was cancelled.")
    }
}
