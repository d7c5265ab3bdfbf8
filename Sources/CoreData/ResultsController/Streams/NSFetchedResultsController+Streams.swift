import Foundation

// Alternatives to a delegate for Swift programs.
extension NSFetchedResultsController {
    /// The future batches of changes, the same as a delegate receives, for one loop:
    ///
    ///     for await batch in controller.changes { … }
    ///
    /// The list follows its context as long as a loop waits for the stream; unconsumed batches are buffered. The stream
    /// ends with the controller. It does not include contents replaced by `performFetch()`; see ``snapshots``. Called
    /// on the context's queue; the batches may be consumed on any.
    public final var changes: AsyncStream<FetchedResultsBatch> {
        let (stream, continuation) = AsyncStream.makeStream(of: FetchedResultsBatch.self)
        let listener = BatchListeners.Listener(
            hear: { continuation.yield($0) }, begin: { _ in }, end: { continuation.finish() })
        listen(listener, until: continuation)
        return stream
    }

    /// The current contents, if they were fetched, and those after each fetch and each batch of changes. A loop that is
    /// slower than the changes gets only the newest contents.
    ///
    /// The list follows its context as long as a loop waits for the stream. The stream ends with the controller. Called
    /// on the context's queue; the snapshots may be consumed on any.
    public final var snapshots: AsyncStream<FetchedResultsSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: FetchedResultsSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        if let snapshot { continuation.yield(snapshot) }
        let listener = BatchListeners.Listener(
            hear: { continuation.yield($0.after) }, begin: { continuation.yield($0) },
            end: { continuation.finish() })
        listen(listener, until: continuation)
        return stream
    }

    private func listen<Element>(
        _ listener: BatchListeners.Listener, until continuation: AsyncStream<Element>.Continuation
    ) {
        let listeners = tracker.listeners
        let number = listeners.add(listener)
        continuation.onTermination = { _ in listeners.remove(number) }
        tracker.catchUp()
    }

    /// The current contents, as a value for any queue; `nil` before the fetch. O(1). Called on the context's queue.
    public final var snapshot: FetchedResultsSnapshot? { tracker.snapshot }

    /// True to follow the context even without a delegate or a stream: for programs that read ``sections`` repeatedly,
    /// or observe it with `withObservationTracking`. `false` by default, as in Apple's framework.
    public final var followsChanges: Bool {
        get { tracker.followsChanges }
        set { tracker.followsChanges = newValue }
    }

    /// The object at an index path; `nil` where `object(at:)` would stop the program. O(log n).
    public final subscript(indexPath: IndexPath) -> ResultType? {
        tracker.knownObject(at: indexPath).flatMap { $0 as? ResultType }
    }

    /// Makes changes that the view already shows, such as a row that was dragged: the list is updated without notifying
    /// the delegate or ``changes``. ``snapshots`` receives the new contents. Earlier changes of the context are
    /// processed and reported first.
    ///
    /// - Precondition: Not called while the delegate is being called.
    public final func applyWithoutAnnouncing<Result>(_ body: () throws -> Result) rethrows -> Result {
        try tracker.withoutAnnouncing(body)
    }
}
