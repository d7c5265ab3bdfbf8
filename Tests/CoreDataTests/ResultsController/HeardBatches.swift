import Foundation

@testable import CoreData

/// The batches of a controller as values, put together to contents.
final class HeardBatches: @unchecked Sendable {
    private var ids: [NSManagedObjectID] = []
    private var failure: String?
    private var last: FetchedResultsSnapshot?

    func listen(to controller: NSFetchedResultsController<NSManagedObject>) {
        last = controller.snapshot
        _ = controller.tracker.listeners.add(
            BatchListeners.Listener(
                hear: { self.hear($0) }, begin: { self.last = $0 }, end: {}))
    }

    private func hear(_ batch: FetchedResultsBatch) {
        let before = batch.before.objectIDs
        if before.applying(batch.difference) != batch.after.objectIDs { failure = failure ?? "a difference is wrong" }
        if Set(batch.changes.map(\.objectID)).count != batch.changes.count {
            failure = failure ?? "an object is told twice"
        }
        if let last, last.count != before.count {
            failure = failure ?? "a batch does not begin where the last one ended"
        }
        for change in batch.aggregateChanges where change.oldValue == change.newValue {
            failure = failure ?? "an aggregate that did not change is told"
        }
        last = batch.after
    }

    func problem(_ controller: NSFetchedResultsController<NSManagedObject>) -> String? {
        if let failure { return failure }
        guard let last, let now = controller.snapshot else { return "there is no snapshot" }
        if last.sections != now.sections { return "the batches lead to other sections" }
        return last.count == now.count ? nil : "the batches lead to other contents"
    }
}
