import Foundation

/// The queue of a context as the executor of an actor, so the actor can use the context's objects without `perform`:
///
/// ```swift
/// actor Repository {
///     let context: NSManagedObjectContext
///     nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
/// }
/// ```
///
/// Each job of the actor runs like a block of ``perform(_:)``: serially with the context's other blocks, with the
/// pending changes processed after it. The actor keeps the context alive. An addition to Apple's interface.
extension NSManagedObjectContext: SerialExecutor {
    /// Runs a job of an actor on the context's queue. Called by the concurrency runtime.
    nonisolated public func enqueue(_ job: consuming ExecutorJob) {
        let work = UnownedJob(job)
        perform { work.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// The reference that an actor returns as its `unownedExecutor`.
    nonisolated public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Stops the program if the caller is not on the context's queue. Called by an actor's `assumeIsolated`.
    nonisolated public func checkIsolated() {
        precondition(isOnQueue, "An actor's work runs outside of the queue of its context.")
    }
}
