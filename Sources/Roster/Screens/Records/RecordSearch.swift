import CoreData
import Foundation
import TerminalKit

/// Looks for the records of a list in which a text stands: from one row on, once round the list.
///
/// Design note. A list may have any number of rows, and a key must not wait for the search: the rows are gone through
/// in pieces of a few milliseconds, the nearest first, and between the pieces the keys are read. The store says which
/// records of a piece match; only their IDs are fetched. So the nearest match usually comes with the first piece, and
/// only counting all matches, or finding none, takes the whole way. When rows move meanwhile the search goes on behind
/// the row where it was.
final class RecordSearch {
    enum Direction {
        case forward
        case backward
    }

    /// How long one piece should take.
    private static let pieceTime = Duration.milliseconds(8)

    let text: String
    let direction: Direction
    /// Whether all matches are counted, or the nearest one is enough.
    let countsAll: Bool
    /// The nearest match.
    private(set) var match: NSManagedObject?
    /// Whether the nearest match stands on the other side of the list's end.
    private(set) var wentRound = false
    /// Whether there is nothing left to look for.
    private(set) var isFinished = false
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
        while !isFinished {
            let begin = ContinuousClock.now
            do {
                try lookAtNextPiece()
            } catch {
                isFinished = true
                throw error
            }
            let end = ContinuousClock.now
            if end - begin < Self.pieceTime / 2 { pieceSize = min(4096, pieceSize * 2) }
            if end - begin > Self.pieceTime * 2 { pieceSize = max(16, pieceSize / 2) }
            if end >= deadline { return }
        }
    }

    /// Ends the search where it is.
    func stop() { isFinished = true }

    // MARK: Pieces

    private func lookAtNextPiece() throws {
        let rows = nextRows()
        let ids = list.controller.objectIDs(at: rows)
        let inOrder = direction == .forward ? ids : ids.reversed()
        if first == nil { first = inOrder.first }
        last = inOrder.last
        done += ids.count
        let found = try matching(ids)
        matches.formUnion(found)
        if match == nil, let nearest = inOrder.first(where: { found.contains($0) }) {
            match = context.object(with: nearest)
            wentRound = beginsRound || (direction == .forward ? rows.lowerBound < start : rows.lowerBound > start)
        }
        isFinished = done >= list.objectCount || (match != nil && !countsAll)
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

    private static func predicate(for text: String, entity: NSEntityDescription) -> NSPredicate? {
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
        // What cannot be told here is left to the next search.
        matches.formUnion((try? matching(ids.filter { row($0) != nil })) ?? [])
    }

    private func row(_ id: NSManagedObjectID) -> Int? {
        list.path(of: context.object(with: id)).map { list.index(of: $0) }
    }
}
