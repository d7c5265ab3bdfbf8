import CoreData
import TerminalKit

/// The records of a stretch of a list, found piece by piece. Makes their objects and reads nothing.
///
/// What others change meanwhile may move the rows: then those are looked at again whose place is not certain, and all of them
/// where some are missing in the end.
struct RowWalk {
    private let records: RecordList
    private let session: StoreSession
    /// The records that are left out.
    private let left: Set<NSManagedObject>
    private(set) var found: Set<NSManagedObject> = []
    private var leftOut: Set<NSManagedObject> = []
    /// How many rows were looked at, the last of them, and the state of the store then.
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

    /// Goes on until a time. Answers whether all rows of `bounds` were looked at.
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

    /// Whether rows went past that were not looked at.
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
