import CoreData
import Foundation
import TerminalKit

/// The positions of a pattern's matches in a list, to show, for example, `2 of 204`.
///
/// The store finds the matching records; in the background if the list is long. If there are many, the list is then
/// iterated in pieces between keys. Changes of the list invalidate the positions; the owner computes them again after a
/// pause without changes.
final class SearchPlaces {
    let query: FindQuery
    private let method: FindQuery.Method
    /// The rows of the matches in the whole list, ascending; `nil` until all are known.
    private(set) var rows: [Int]?
    private let list: RecordList
    /// The matching records, when the store has returned them.
    private var matches: Set<NSManagedObjectID>?
    private var asking: Job<[NSManagedObjectID]>?
    private var next = 0
    private var found: [Int] = []
    /// Time to compute the positions again after a change; `nil` while they are valid.
    private(set) var recount: ContinuousClock.Instant?
    /// Number of matches before the list changed.
    private var earlierCount: Int?

    /// - Parameters:
    ///   - search: a finished search. Its matches are reused if it has found all.
    ///   - whenKnown: called on the main queue when the store has returned the matches.
    init(of search: RecordSearch, in list: RecordList, whenKnown: @escaping () -> Void) {
        (query, method) = (search.query, search.method)
        self.list = list
        matches = search.allMatches
        if matches == nil { ask(whenKnown) }
    }

    /// Computes the positions again after a change of the list.
    init(again other: SearchPlaces, _ method: FindQuery.Method, whenKnown: @escaping () -> Void) {
        (query, self.method) = (other.query, method)
        list = other.list
        earlierCount = other.count
        ask(whenKnown)
    }

    /// The text as typed.
    var text: String { query.pattern.text }

    /// Invalidates the positions after a change of the list. The count stays known.
    func listChanged() {
        earlierCount = count
        asking?.cancel()
        (matches, rows) = (nil, nil)
        recount = .now + list.limits.restBeforeCounting
    }

    /// Number of matches, possibly from before a change; `nil` until known.
    var count: Int? { rows?.count ?? earlierCount }

    /// True if the list is being iterated.
    var isCounting: Bool { matches != nil && rows == nil }

    /// The number of a row among the matches, counted from 1; `nil` if it is not a match or not known yet.
    func number(ofRow row: Int) -> Int? {
        guard let rows else { return nil }
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle] < row { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low] == row ? low + 1 : nil
    }

    private func ask(_ whenKnown: @escaping () -> Void) {
        guard case .predicate(let predicate) = method else {
            // Reading all texts would take too long: the number of matches stays unknown.
            if case .none = method { matches = [] }
            return
        }
        let request = NSFetchRequest<NSManagedObjectID>()
        request.resultType = .managedObjectIDResultType
        request.entity = list.display.entity
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [
                list.controller.fetchRequest.predicate, predicate,
            ].compactMap { $0 })
        let context = list.controller.managedObjectContext
        guard list.objectCount > list.limits.longList else {
            // If this fails, the search has already shown the error.
            matches = Set((try? context.fetch(request)) ?? [])
            return
        }
        asking = Job {
            try await context.fetchAsynchronously(request)
        } then: { [unowned self] result in
            guard let found = try? result.get() else { return }
            matches = Set(found)
            whenKnown()
        }
    }

    /// Continues to iterate the list until all positions are known, or until a piece is done after the deadline.
    func count(until deadline: ContinuousClock.Instant) {
        guard let matches, rows == nil else { return }
        if matches.count <= list.limits.placesLookedUp {
            let context = list.controller.managedObjectContext
            rows = matches.compactMap { list.path(of: context.object(with: $0)) }.map { list.index(of: $0) }.sorted()
            return
        }
        while next < list.objectCount {
            let piece = next..<min(next + list.limits.rowsAtOnce, list.objectCount)
            for (row, id) in zip(piece, list.controller.objectIDs(at: piece)) where matches.contains(id) {
                found.append(row)
            }
            next = piece.upperBound
            if next < list.objectCount, ContinuousClock.now >= deadline { return }
        }
        rows = found
    }
}
