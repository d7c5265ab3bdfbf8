import Foundation

extension NSFetchedResultsController {
    /// The kind of notification that a delegate gets when the request was changed.
    public enum RefetchAnnouncement: Sendable {
        /// The delegate gets all changes from the old list to the new one, as one batch.
        case changes
        /// The delegate gets only the will-change and did-change methods, or the snapshot method. For long lists if a
        /// screen shows only the result.
        case contents
    }

    /// Updates the list after ``fetchRequest``, ``sectionBy`` or ``aggregates`` were changed. Call it instead of
    /// `performFetch()`. An addition to Apple's interface.
    ///
    /// The rows are read and compared in the background. Until that is done the old list stays visible and follows its
    /// context. Then the difference is reported to the delegate, ``changes`` and ``snapshots`` as one exact batch with
    /// the fewest moves. Sections of the same name before and after are the same section. Windows (`fetchLimit`,
    /// `fetchOffset`), lists of several stores or of a context with a parent, and sections that only objects can
    /// compute are read on the queue. If the list was not fetched yet, only the notifications of `performFetch()` are
    /// sent.
    ///
    /// Set the request on the context's queue; this method may be called on any queue. A later call, or
    /// `performFetch()`, replaces an unfinished one. After a cancellation or an error the list is unchanged.
    ///
    /// - Parameters:
    ///   - announcement: the kind of notification for the delegate.
    ///   - progress: its `completedUnitCount` is set to the number of rows that the store has scanned so far,
    ///     repeatedly while an SQLite store scans a whole table or index, as for a filter without an index. The caller
    ///     may set the total, if it knows the number of rows; sorting them takes additional time.
    /// - Throws: 3072 (`CocoaError.userCancelled`) if the task was cancelled or another fetch replaced it; 134060 for a
    ///   request that cannot be resolved, and if the objects of a section are not adjacent; the store's error if it
    ///   cannot be read.
    nonisolated(nonsending) public final func refetch(
        telling announcement: RefetchAnnouncement = .changes, reporting progress: Progress? = nil
    ) async throws {
        var onScan: (@Sendable (Int) -> Void)?
        if let progress { onScan = { rows in progress.completedUnitCount = Int64(rows) } }
        let interruption = Interruption(onScan: onScan)
        let outcome: Result<Void, any Error> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let begin = { [tracker] in
                    do {
                        tracker.requireFetchable()
                        try interruption.check()
                        try Refetch(
                            tracker, tellsChanges: announcement == .changes, interruption: interruption
                        ) { continuation.resume(returning: $0) }.start()
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
                if tracker.context.isOnQueue { begin() } else { tracker.context.queue.async(begin) }
            }
        } onCancel: {
            interruption.interrupt()
        }
        withExtendedLifetime(self) {}
        try outcome.get()
    }
}
