import Foundation

/// The queue of a context as the executor of an actor, so that an actor can use the context's objects without `perform`:
///
/// ```swift
/// actor Repository {
///     let context: NSManagedObjectContext
///     nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
/// }
/// ```
///
/// Each piece of the actor's work runs as a block of ``perform(_:)`` does: in turn with the context's other blocks, with the
/// pending changes processed after it. The actor keeps the context alive. An addition to Apple's interface.
extension NSManagedObjectContext: SerialExecutor {
    /// Runs a piece of an actor's work on the context's queue. The concurrency runtime calls it.
    nonisolated public func enqueue(_ job: consuming ExecutorJob) {
        let work = UnownedJob(job)
        perform { work.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// The reference that an actor hands out as its `unownedExecutor`.
    nonisolated public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Stops the program if the caller is not on the context's queue; `assumeIsolated` of an actor asks for it.
    nonisolated public func checkIsolated() {
        precondition(isOnQueue, "An actor's work was expected on the queue of its context, but runs elsewhere.")
    }
}
