import Foundation

// What Swift programs use beside a delegate.
extension NSFetchedResultsController {
    /// The batches of changes from now on, each exactly as a delegate hears it, for one loop:
    ///
    ///     for await batch in controller.changes { … }
    ///
    /// The list follows its context as long as such a stream is waited for; batches that are not taken yet are kept. The
    /// stream ends with the controller. What `performFetch()` replaces is not told here; see ``snapshots``. Called on the
    /// context's queue; the batches may be taken on any.
    public final var changes: AsyncStream<FetchedResultsBatch> {
        let (stream, continuation) = AsyncStream.makeStream(of: FetchedResultsBatch.self)
        let listener = BatchListeners.Listener(
            hear: { continuation.yield($0) }, begin: { _ in }, end: { continuation.finish() })
        listen(listener, until: continuation)
        return stream
    }

    /// The contents now, if they were fetched, and after each fetch and each batch of changes. A loop that is slower than
    /// the changes gets the newest contents only.
    ///
    /// The list follows its context as long as such a stream is waited for. The stream ends with the controller. Called on
    /// the context's queue; the snapshots may be taken on any.
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

    /// The contents as they are now, as a value for any queue; `nil` before the fetch. O(1). Called on the context's queue.
    public final var snapshot: FetchedResultsSnapshot? { tracker.snapshot }

    /// Whether the list follows its context though there is neither a delegate nor a stream: for programs that look at
    /// ``sections`` again and again, or observe it with `withObservationTracking`. `false` by default, as in Apple's framework.
    public final var followsChanges: Bool {
        get { tracker.followsChanges }
        set { tracker.followsChanges = newValue }
    }

    /// The object at a place; `nil` where `object(at:)` would stop the program. O(log n).
    public final subscript(indexPath: IndexPath) -> ResultType? {
        tracker.knownObject(at: indexPath).flatMap { $0 as? ResultType }
    }

    /// Makes changes that the view shows already, such as a row that a person dragged: the list takes them over, and neither
    /// the delegate nor ``changes`` hears of them. ``snapshots`` gives the new contents. The context's changes so far are
    /// processed and told before.
    ///
    /// - Precondition: Not called while the delegate is being called.
    public final func applyWithoutAnnouncing<Result>(_ body: () throws -> Result) rethrows -> Result {
        try tracker.withoutAnnouncing(body)
    }
}
