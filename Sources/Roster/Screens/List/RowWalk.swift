import CoreData
import TerminalKit

/// Finds the records of a range of rows in pieces. Creates faults and reads no values.
///
/// Concurrent changes may move rows: the walk then repeats rows whose position is uncertain, and starts again if
/// records are missing at the end.
struct RowWalk {
    private let records: RecordList
    private let session: StoreSession
    /// The records to leave out.
    private let left: Set<NSManagedObject>
    private(set) var found: Set<NSManagedObject> = []
    private var leftOut: Set<NSManagedObject> = []
    /// The progress of the search: the number of rows examined, the last one of these, and the revision of the session
    /// at that time.
    private var done = 0
    private var last: NSManagedObject?
    private var revision: Int
    private var hasChanged = false
    private var passes = 1
    private(set) var share = 0.0

    private static let mostPasses = 3

    init(of screen: ListScreen, except left: Set<NSManagedObject>) {
        (records, session, self.left) = (screen.records, screen.session, left)
        revision = session.revision
    }

    /// Continues until the deadline. Returns true if all rows of `bounds` were examined.
    mutating func goOn(in bounds: Range<Int>, until deadline: ContinuousClock.Instant) -> Bool {
        if revision != session.revision { findPlaceAgain(in: bounds) }
        while true {
            guard done < bounds.count else {
                guard isIncomplete(in: bounds), passes < Self.mostPasses else { return true }
                (done, last, passes) = (0, nil, passes + 1)
                continue
            }
            let start = bounds.lowerBound + done
            let ids = records.controller.objectIDs(
                at: start..<min(start + session.limits.rowsAtOnce, bounds.upperBound))
            for id in ids {
                let object = session.context.object(with: id)
                if left.contains(object) { leftOut.insert(object) } else { found.insert(object) }
                last = object
            }
            done += ids.count
            share = Double(done) / Double(max(1, bounds.count))
            if ContinuousClock.now >= deadline { return false }
        }
    }

    /// True if some rows were not examined because they moved.
    private func isIncomplete(in bounds: Range<Int>) -> Bool {
        func isThere(_ object: NSManagedObject) -> Bool { !object.isDeleted && object.managedObjectContext != nil }
        return hasChanged && found.count(where: isThere) + leftOut.count(where: isThere) < bounds.count
    }

    private mutating func findPlaceAgain(in bounds: Range<Int>) {
        (revision, hasChanged) = (session.revision, true)
        guard done > 0 else { return }
        let place = last.flatMap { records.path(of: $0) }.map { records.index(of: $0) + 1 - bounds.lowerBound }
        done = max(0, min(bounds.count, place ?? 0))
    }
}
