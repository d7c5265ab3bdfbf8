import CoreData
import Foundation
import TerminalKit

/// Searches the records of a list for a pattern, from one row on and once around the list.
///
/// Design note. A list may have any number of rows, and keys must not wait for the search. It examines rows in pieces
/// of a few milliseconds, the nearest first, between which keys are handled: the store returns the IDs of the matching
/// records of a piece. The first piece usually contains the nearest match. If it does not, or if all matches are
/// counted, a single background query also fetches all matches. It scans the table in file order, ten times faster than
/// reading rows by key in list order; pieces are then only compared with its result. Rows that move hide no matches:
/// the search continues after its last row, and changed records are queried again.
final class RecordSearch {
    enum Direction {
        case forward
        case backward
    }

    let query: FindQuery
    let method: FindQuery.Method
    let direction: Direction
    /// True to count all matches; false to find only the nearest one.
    let countsAll: Bool
    /// The nearest match.
    private(set) var match: NSManagedObject?
    /// True if the search passed the end of the list before the nearest match.
    private(set) var wentRound = false
    /// True if the search is complete or was stopped.
    private(set) var isFinished = false {
        didSet { if isFinished { scan?.cancel() } }
    }
    private let list: RecordList
    /// The first row to examine.
    private var start: Int
    /// True if the search started beyond the end of the list.
    private var beginsRound = false
    /// Number of rows examined.
    private var done = 0
    private var pieceSize = 64
    private(set) var matches: Set<NSManagedObjectID> = []
    /// Fetches all matches from the store.
    private(set) var scan: Job<[NSManagedObjectID]>?
    /// The result of `scan` until it is processed.
    private var answer: Set<NSManagedObjectID>?
    /// True if the store has returned all matches: `matches` is complete.
    private(set) var knowsAll = false
    /// Records that changed since `scan` began.
    private var changedMeanwhile: Set<NSManagedObjectID> = []
    /// The records in the first row and in the last one examined.
    private var first: NSManagedObjectID?
    private var last: NSManagedObjectID?

    private var context: NSManagedObjectContext { list.controller.managedObjectContext }

    /// - Parameters:
    ///   - query: the pattern to find in the columns of the list.
    ///   - origin: the starting row; `nil` for the start of the list, or the end if searching backward.
    ///   - includesOrigin: true to examine that row first, false to examine it last.
    init(
        _ query: FindQuery, _ method: FindQuery.Method, in list: RecordList, from origin: ListPath?,
        includesOrigin: Bool = false, direction: Direction = .forward, countsAll: Bool = false
    ) {
        self.query = query
        self.method = method
        self.list = list
        self.direction = direction
        self.countsAll = countsAll
        let count = list.objectCount
        let place = origin.map { list.index(of: $0) } ?? (direction == .forward ? -1 : count)
        start = includesOrigin ? place : place + (direction == .forward ? 1 : -1)
        if start >= count || start < 0 {
            beginsRound = origin != nil
            start = direction == .forward ? 0 : count - 1
        }
        if case .none = method { isFinished = true } else { isFinished = count == 0 }
    }

    /// The text as typed.
    var text: String { query.pattern.text }

    /// Number of matches found so far.
    var count: Int { matches.count }

    /// Percentage of the list that was examined.
    var progress: Int { list.objectCount == 0 ? 100 : min(100, done * 100 / list.objectCount) }

    /// Continues until the search is finished or the deadline is reached.
    ///
    /// - Throws: errors of the store; the search is then finished.
    func advance(until deadline: ContinuousClock.Instant) throws {
        if let answer { take(answer) }
        while !isFinished {
            let begin = ContinuousClock.now
            do {
                try lookAtNextPiece()
            } catch {
                isFinished = true
                throw error
            }
            let end = ContinuousClock.now
            if end - begin < list.limits.searchPiece / 2 { pieceSize = min(4096, pieceSize * 2) }
            if end - begin > list.limits.searchPiece * 2 { pieceSize = max(16, pieceSize / 2) }
            if end >= deadline { return askForAll() }
        }
    }

    func stop() { isFinished = true }

    /// All matches; `nil` if the search was stopped before they were known.
    var allMatches: Set<NSManagedObjectID>? {
        if case .none = method { return [] }
        return knowsAll || done >= list.objectCount && list.objectCount > 0 ? matches : nil
    }

    // MARK: Searching the whole store

    /// Starts `scan` if needed. Rows of a list that does not follow its context are only examined in pieces, because
    /// the store may have other records.
    private func askForAll() {
        guard !isFinished, scan == nil, list.isFollowing, case .predicate(let predicate) = method else { return }
        let request = NSFetchRequest<NSManagedObjectID>()
        request.resultType = .managedObjectIDResultType
        request.entity = list.display.entity
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [list.controller.fetchRequest.predicate, predicate].compactMap { $0 })
        scan = Job { [context] in
            try await context.fetchAsynchronously(request)
        } then: { [unowned self] result in
            // If this fails, the search of pieces continues and reports the error.
            answer = (try? result.get()).map(Set.init)
        }
    }

    /// Processes the result of `scan`.
    private func take(_ all: Set<NSManagedObjectID>) {
        answer = nil
        guard !isFinished else { return }
        let known = matches.intersection(changedMeanwhile)
        matches = all.subtracting(changedMeanwhile).union(known)
        (knowsAll, changedMeanwhile) = (true, [])
        if match == nil, matches.count <= list.limits.matchesLookedUp { findNearest() }
        isFinished = match != nil || matches.isEmpty
    }

    /// Finds the nearest of a few matches by their rows.
    private func findNearest() {
        let count = list.objectCount
        let found = matches.compactMap { id in row(id).map { (row: $0, id: id) } }
        func distance(_ row: Int) -> Int { (direction == .forward ? row - start : start - row) + count }
        guard let nearest = found.min(by: { distance($0.row) % count < distance($1.row) % count }) else {
            return matches = []
        }
        setMatch(nearest.id, at: nearest.row)
    }

    private func setMatch(_ id: NSManagedObjectID, at row: Int) {
        match = context.object(with: id)
        wentRound = beginsRound || (direction == .forward ? row < start : row > start)
    }

    // MARK: Pieces

    private func lookAtNextPiece() throws {
        let rows = nextRows()
        let ids = list.controller.objectIDs(at: rows)
        let inOrder = direction == .forward ? ids : ids.reversed()
        if first == nil { first = inOrder.first }
        last = inOrder.last
        done += ids.count
        let found = knowsAll ? matches.intersection(ids) : try matching(ids)
        if !knowsAll { matches.formUnion(found) }
        if match == nil, let nearest = inOrder.first(where: { found.contains($0) }) {
            setMatch(nearest, at: rows.lowerBound)
        }
        isFinished = done >= list.objectCount || (match != nil && (!countsAll || knowsAll))
    }

    /// The next rows to examine, not crossing the end of the list.
    private func nextRows() -> Range<Int> {
        let count = list.objectCount
        let size = min(pieceSize, count - done)
        guard size > 0 else { return 0..<0 }
        switch direction {
        case .forward:
            let row = (start + done) % count
            return row..<min(count, row + size)
        case .backward:
            let row = (start - done + count) % count
            return max(0, row - size + 1)..<(row + 1)
        }
    }

    private func matching(_ ids: [NSManagedObjectID]) throws -> Set<NSManagedObjectID> {
        guard !ids.isEmpty else { return [] }
        let amongThese = NSPredicate(format: "SELF IN %@", ids)
        switch method {
        case .none: return []
        case .texts: return try showing(amongThese)
        case .predicate(let predicate):
            let request = NSFetchRequest<NSManagedObjectID>()
            request.resultType = .managedObjectIDResultType
            request.entity = query.entity
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [amongThese, predicate])
            return Set(try context.fetch(request))
        }
    }

    /// The records that show the pattern, read with those that their columns name.
    private func showing(_ predicate: NSPredicate) throws -> Set<NSManagedObjectID> {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = query.entity
        request.predicate = predicate
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = query.relationshipKeys
        return Set(try context.fetch(request).filter(query.matches).map(\.objectID))
    }

    // MARK: Concurrent changes

    /// Adjusts the position after a change of the list. Inserted and moved rows are examined here.
    func listChanged(_ changed: [NSManagedObject]) {
        guard !isFinished else { return }
        let count = list.objectCount
        guard count > 0 else { return stop() }
        let ids = changed.map(\.objectID)
        start = min(first.flatMap(row) ?? start, count - 1)
        if let last, !ids.contains(last), let row = row(last) {
            done = (direction == .forward ? row - start + count : start - row + count) % count + 1
        } else {
            done = max(0, min(done, count) - ids.count - 1)
        }
        matches.subtract(ids)
        // The values of changed records may be new and not in the predicate. If this fails, the next search finds them.
        matches.formUnion((try? showing(NSPredicate(format: "SELF IN %@", ids.filter { row($0) != nil }))) ?? [])
        if scan != nil, !knowsAll { changedMeanwhile.formUnion(ids) }
    }

    private func row(_ id: NSManagedObjectID) -> Int? {
        list.path(of: context.object(with: id)).map { list.index(of: $0) }
    }
}
