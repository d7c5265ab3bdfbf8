import CoreData
import Foundation
import TerminalKit

/// Looks for the records of a list in which a text stands: from one row on, once round the list.
///
/// Design note. A list may have any number of rows, and a key must not wait for the search. The rows are gone through in
/// pieces of a few milliseconds, the nearest first, and between the pieces the keys are read: the store says which records of
/// a piece match, and only their IDs are fetched. So the nearest match usually comes with the first piece. Where it does not,
/// or all matches are counted, the store is asked for all of them too, by one statement beside the queue: that goes through
/// the table as it lies in the file, ten times as fast as rows that are read by their keys in the order of the list. When its
/// answer is there, pieces are only compared with it. Rows that move meanwhile hide no match: the search goes on behind the
/// row where it was, and what changed is asked about again.
final class RecordSearch {
    enum Direction {
        case forward
        case backward
    }

    let text: String
    let direction: Direction
    /// Whether all matches are counted, or the nearest one is enough.
    let countsAll: Bool
    /// The nearest match.
    private(set) var match: NSManagedObject?
    /// Whether the nearest match stands on the other side of the list's end.
    private(set) var wentRound = false
    /// Whether there is nothing left to look for.
    private(set) var isFinished = false {
        didSet { if isFinished { scan?.cancel() } }
    }
    private let list: RecordList
    private let predicate: NSPredicate?
    /// The row that is looked at first.
    private var start: Int
    /// Whether the end was passed before the first row.
    private var beginsRound = false
    /// How many rows have been looked at.
    private var done = 0
    private var pieceSize = 64
    private(set) var matches: Set<NSManagedObjectID> = []
    /// Asks the store for all matches.
    private(set) var scan: Job<[NSManagedObjectID]>?
    /// What it found, until it is taken up.
    private var answer: Set<NSManagedObjectID>?
    /// Whether the store has said of all rows whether they match: `matches` are all.
    private(set) var knowsAll = false
    /// What changed since the store was asked.
    private var changedMeanwhile: Set<NSManagedObjectID> = []
    /// The records in the first row and in the one that was looked at last.
    private var first: NSManagedObjectID?
    private var last: NSManagedObjectID?

    private var context: NSManagedObjectContext { list.controller.managedObjectContext }

    /// - Parameters:
    ///   - text: what to look for, regardless of case and diacritics, in text attributes and the names of related records.
    ///   - origin: where to begin; `nil` at the end where the direction comes from.
    ///   - includesOrigin: whether that row itself comes first, and not last.
    init(
        _ text: String, in list: RecordList, from origin: ListPath?, includesOrigin: Bool = false,
        direction: Direction = .forward, countsAll: Bool = false
    ) {
        self.text = text
        self.list = list
        self.direction = direction
        self.countsAll = countsAll
        predicate = text.isEmpty ? nil : Self.predicate(for: text, entity: list.display.entity)
        let count = list.objectCount
        let place = origin.map { list.index(of: $0) } ?? (direction == .forward ? -1 : count)
        start = includesOrigin ? place : place + (direction == .forward ? 1 : -1)
        if start >= count || start < 0 {
            beginsRound = origin != nil
            start = direction == .forward ? 0 : count - 1
        }
        isFinished = predicate == nil || count == 0
    }

    /// Whether the records of an entity have any text to look in.
    static func canSearch(_ entity: NSEntityDescription) -> Bool { predicate(for: "a", entity: entity) != nil }

    /// How many matches were found so far.
    var count: Int { matches.count }

    /// How much of the list has been looked at, in hundredths.
    var progress: Int { list.objectCount == 0 ? 100 : min(100, done * 100 / list.objectCount) }

    /// Looks on until something is decided or the time is over.
    ///
    /// - Throws: what the store throws; the search is then finished.
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

    /// Ends the search where it is.
    func stop() { isFinished = true }

    /// All matches, where the search was not stopped before they were known.
    var allMatches: Set<NSManagedObjectID>? {
        predicate == nil ? [] : knowsAll || done >= list.objectCount && list.objectCount > 0 ? matches : nil
    }

    // MARK: All at once

    /// Asks the store for all matches, beside the queue, unless the search is over or that is done already. A list that does not
    /// follow its context may hold other records than the store: its rows are only gone through.
    private func askForAll() {
        guard !isFinished, scan == nil, list.isFollowing, let predicate else { return }
        let request = NSFetchRequest<NSManagedObjectID>()
        request.resultType = .managedObjectIDResultType
        request.entity = list.display.entity
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [list.controller.fetchRequest.predicate, predicate].compactMap { $0 })
        scan = Job { [context] in
            try await context.fetchAsynchronously(request)
        } then: { [unowned self] result in
            // Where it fails, the pieces go on, and tell what is wrong.
            answer = (try? result.get()).map(Set.init)
        }
    }

    /// Takes up what the store found in all rows.
    private func take(_ all: Set<NSManagedObjectID>) {
        answer = nil
        guard !isFinished else { return }
        let known = matches.intersection(changedMeanwhile)
        matches = all.subtracting(changedMeanwhile).union(known)
        (knowsAll, changedMeanwhile) = (true, [])
        if match == nil, matches.count <= list.limits.matchesLookedUp { findNearest() }
        isFinished = match != nil || matches.isEmpty
    }

    /// Looks up where the matches stand, which are few.
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

    /// The rows to look at next: never across the list's end.
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
        guard let predicate, !ids.isEmpty else { return [] }
        let request = NSFetchRequest<NSManagedObjectID>()
        request.resultType = .managedObjectIDResultType
        request.entity = list.display.entity
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [NSPredicate(format: "SELF IN %@", ids), predicate])
        return Set(try context.fetch(request))
    }

    /// What records have to fulfil to match; `nil` where they have no text.
    static func predicate(for text: String, entity: NSEntityDescription) -> NSPredicate? {
        var parts: [NSPredicate] = []
        for property in entity.properties where !property.isTransient {
            if let attribute = property as? NSAttributeDescription {
                if attribute.attributeType == .stringAttributeType {
                    parts.append(NSPredicate(format: "%K CONTAINS[cd] %@", attribute.name, text))
                }
            } else if let relationship = property as? NSRelationshipDescription, !relationship.isToMany,
                let label = relationship.destinationEntity.flatMap({ EntityDisplay.label(of: $0) })
            {
                parts.append(NSPredicate(format: "%K CONTAINS[cd] %@", "\(relationship.name).\(label.name)", text))
            }
        }
        return parts.isEmpty ? nil : NSCompoundPredicate(orPredicateWithSubpredicates: parts)
    }

    // MARK: Changes meanwhile

    /// Follows the rows after the list changed. Rows that came or moved are looked at here, wherever they stand now.
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
        // What cannot be told here is left to the next search.
        matches.formUnion((try? matching(ids.filter { row($0) != nil })) ?? [])
        if scan != nil, !knowsAll { changedMeanwhile.formUnion(ids) }
    }

    private func row(_ id: NSManagedObjectID) -> Int? {
        list.path(of: context.object(with: id)).map { list.index(of: $0) }
    }
}
