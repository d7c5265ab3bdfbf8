import Foundation

extension NSFetchedResultsController {
    /// What a delegate hears of a change of request.
    public enum RefetchAnnouncement: Sendable {
        /// Everything that leads from the old list to the new one, as one batch.
        case changes
        /// That the contents are others: will and did, or the snapshot. For changes of long lists of which a screen shows
        /// nothing but the result.
        case contents
    }

    /// Goes over to what ``fetchRequest``, ``sectionBy`` and ``aggregates`` say now: set what shall be another, and call this
    /// instead of `performFetch()`. An addition to Apple's interface.
    ///
    /// The rows are read and compared beside the context's queue. Until they are there the old list stays, is shown and
    /// follows its context. Then the difference is told to the delegate, ``changes`` and ``snapshots`` as one exact batch
    /// with the fewest moves. The same section name before and after is the same section. Windows (`fetchLimit`,
    /// `fetchOffset`), lists of several stores or of a context with a parent, and sections that only objects know are read on
    /// the queue. Of a list that was not fetched yet nothing is told but what `performFetch()` tells.
    ///
    /// Set the request on the context's queue; the call itself goes there where it is made elsewhere. A later call, or
    /// `performFetch()`, takes the place of one that is not done. Cancelling the task leaves the list as it was, and so does
    /// an error.
    ///
    /// - Parameters:
    ///   - announcement: what the delegate hears.
    ///   - progress: its `completedUnitCount` becomes the number of rows that the store has gone through so far, again and again
    ///     while an SQLite store goes through all of a table or an index, as it does for a filter that no index answers. What
    ///     share of the work that is the caller may say, who knows how many rows there are; to sort them takes time of its own.
    /// - Throws: 3072 (`CocoaError.userCancelled`) when the task was cancelled or another fetch took its place; 134060 for a
    ///   request that cannot be resolved, and when the objects of a section do not stand together; the store's error where it
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
