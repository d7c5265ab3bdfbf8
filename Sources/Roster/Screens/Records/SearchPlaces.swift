import CoreData
import Foundation
import TerminalKit

/// The places in a list at which a text stands, so that of a match can be said the how-manieth of how many it is.
///
/// The store says which records match: at once for short lists, beside the queue for long ones. Where there are many, the list
/// is then gone through piece by piece between the keys. Whatever changes the list makes this worthless: the owner finds them anew
/// when the list has stood still for a moment.
final class SearchPlaces {
    let text: String
    /// The matches' places in the whole list, ascending; `nil` until all are known.
    private(set) var rows: [Int]?
    private let list: RecordList
    /// What matches, once the store has said it.
    private var matches: Set<NSManagedObjectID>?
    private var asking: Job<[NSManagedObjectID]>?
    private var next = 0
    private var found: [Int] = []
    /// When the places are to be found anew, as the list has changed; `nil` while they are right.
    private(set) var recount: ContinuousClock.Instant?
    /// How many matches were found before the list changed.
    private var earlierCount: Int?

    /// - Parameters:
    ///   - search: one that was finished: what it found is not asked for again where it has looked at everything.
    ///   - whenKnown: called on the main queue when the store has answered.
    init(of search: RecordSearch, in list: RecordList, whenKnown: @escaping () -> Void) {
        text = search.text
        self.list = list
        matches = search.allMatches
        if matches == nil { ask(whenKnown) }
    }

    /// Finds them anew, of a list that has changed.
    init(again other: SearchPlaces, whenKnown: @escaping () -> Void) {
        text = other.text
        list = other.list
        earlierCount = other.count
        ask(whenKnown)
    }

    /// The list has changed: only how many matches there were is known from now on.
    func listChanged() {
        earlierCount = count
        asking?.cancel()
        (matches, rows) = (nil, nil)
        recount = .now + list.limits.restBeforeCounting
    }

    /// How many matches there are, or were before the list changed; `nil` until that is known.
    var count: Int? { rows?.count ?? earlierCount }

    /// Whether the list is being gone through.
    var isCounting: Bool { matches != nil && rows == nil }

    /// The number of a row among the matches, counted from 1; `nil` where it is none, or not known yet.
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
        let request = NSFetchRequest<NSManagedObjectID>()
        request.resultType = .managedObjectIDResultType
        request.entity = list.display.entity
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [
                list.controller.fetchRequest.predicate, RecordSearch.predicate(for: text, entity: list.display.entity),
            ].compactMap { $0 })
        let context = list.controller.managedObjectContext
        guard list.objectCount > list.limits.longList else {
            // Where that fails, the search has told why.
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

    /// Goes on through the list until all places are known, or the time is over and a piece is done.
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
