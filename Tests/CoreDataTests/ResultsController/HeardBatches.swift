import Foundation

@testable import CoreData

/// The batches of a controller as values, applied one after the other.
final class HeardBatches: @unchecked Sendable {
    private var ids: [NSManagedObjectID] = []
    private var failure: String?
    private var last: FetchedResultsSnapshot?
    /// Number of batches whose moves were compared with the minimum found by brute force.
    private(set) var counted = 0

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
        if let problem = surplus(batch) { failure = failure ?? problem }
        last = batch.after
    }

    /// With more rows that may have moved, brute force takes too long.
    private static let mostCandidates = 5

    /// Describes the superfluous moves of a batch; `nil` if there are none.
    private func surplus(_ batch: FetchedResultsBatch) -> String? {
        let (old, new) = (batch.before.contents, batch.after.contents)
        var changed: Set<UInt64> = []
        var moves = 0
        for change in batch.changes where change.type == .move || change.type == .update {
            guard let path = change.indexPath?.listPath, let row = old.row(at: path) else { return "no old place" }
            changed.insert(row.code)
            if change.type == .move { moves += 1 }
        }
        // A section that is deleted and inserted includes its rows.
        let gone = Set(batch.sectionChanges.filter { $0.type == .delete }.map(\.name))
        let come = Set(batch.sectionChanges.filter { $0.type == .insert }.map(\.name))
        guard changed.count <= Self.mostCandidates, gone.isDisjoint(with: come) else { return nil }
        counted += 1
        let (before, after) = (ListModel(old), ListModel(new))
        let (rowsBefore, rowsAfter) = (
            Set(before.sections.flatMap(\.rows)), Set(after.sections.flatMap(\.rows))
        )
        let fewest = RandomWorld.fewestMoves(
            from: before, to: after, deleted: rowsBefore.subtracting(rowsAfter), changed: changed,
            inserted: rowsAfter.subtracting(rowsBefore))
        return moves == fewest ? nil : "\(moves) moves instead of \(fewest)"
    }

    func problem(_ controller: NSFetchedResultsController<NSManagedObject>) -> String? {
        if let failure { return failure }
        guard let last, let now = controller.snapshot else { return "there is no snapshot" }
        if last.sections != now.sections { return "the batches lead to other sections" }
        return last.count == now.count ? nil : "the batches lead to other contents"
    }
}
