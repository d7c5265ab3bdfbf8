import Dispatch

/// Rows that were given a place lately, with the rows beside which that is, as they were compared with.
///
/// A row that the context does not hold is read from the store as it is now. If another process changed it a moment ago,
/// the change is in the store but not yet merged, and whatever is compared with it may come to stand in the wrong place.
/// The change is merged soon; then what was compared with that row, and what was compared with that again, is put into
/// place once more. Under many commits a second that is a few rows, where all that were placed lately would be thousands. And
/// it stays a few only as long as comparisons are forgotten soon, since a row that is put into place again is compared again.
struct RecentPlacements {
    /// A row that was given a place, and a row of the list that it was compared with.
    struct Comparison {
        let row: RowToken
        let placed: RowToken
    }

    /// As many comparisons are remembered at most; the oldest go.
    private static let limit = 250_000
    /// Comparisons are remembered for so many merges and so long, whichever is more, and until all is merged that is known.
    private static let merges = 4
    private static let seconds = 5.0
    /// Where it is known since when all commits are merged, comparisons made so long before are forgotten.
    private static let margin = 0.3

    /// The comparisons of one edit of the list.
    private struct Entry {
        var comparisons: [Comparison]
        let merge: Int
        let time: DispatchTime
        /// What was compared with a row; made when a merge asks for the first time.
        private var placedByRow: [RowToken: [RowToken]]?

        init(_ comparisons: [Comparison], merge: Int) {
            self.comparisons = comparisons
            self.merge = merge
            time = DispatchTime.now()
        }

        /// The rows that were compared with `row`.
        mutating func placed(by row: RowToken) -> [RowToken] {
            if let placedByRow { return placedByRow[row] ?? [] }
            var made: [RowToken: [RowToken]] = [:]
            for comparison in comparisons { made[comparison.row, default: []].append(comparison.placed) }
            placedByRow = made
            return made[row] ?? []
        }
    }

    private var entries: [Entry] = []
    private var count = 0
    private var merge = 0
    /// Whether comparisons went that may have been wrong.
    private(set) var isIncomplete = false

    mutating func note(_ comparisons: [Comparison]) {
        guard !comparisons.isEmpty else { return }
        entries.append(Entry(comparisons, merge: merge))
        count += comparisons.count
        while count > Self.limit, entries.count > 1 {
            count -= entries.removeFirst().comparisons.count
            isIncomplete = true
        }
    }

    /// The rows to put into place again with a merge of others' changes.
    ///
    /// - Parameters:
    ///   - changed: the rows that the merge changes or takes away.
    ///   - completeSince: since when with this merge all is merged that others committed: no later one is about a row that
    ///     was read before. `nil` where that is not known.
    ///   - isBehind: whether more waits to be merged, of which it may be long since it was committed.
    mutating func takeForMerge(
        of changed: Set<RowToken>, completeSince: DispatchTime? = nil, isBehind: Bool = false,
        now: DispatchTime = .now()
    ) -> [RowToken] {
        merge += 1
        var found: [RowToken] = []
        var seen = changed
        var waiting = Array(changed)
        while let row = waiting.popLast() {
            for index in entries.indices {
                for placed in entries[index].placed(by: row) where seen.insert(placed).inserted {
                    found.append(placed)
                    waiting.append(placed)
                }
            }
        }
        if let completeSince {
            let limit =
                completeSince.uptimeNanoseconds - min(completeSince.uptimeNanoseconds, UInt64(Self.margin * 1e9))
            forget { $0.time.uptimeNanoseconds < limit }
        }
        if !isBehind {
            forget { [merge] entry in
                let age = Double(now.uptimeNanoseconds - entry.time.uptimeNanoseconds) / 1e9
                return merge - entry.merge > Self.merges && age > Self.seconds
            }
        }
        return found
    }

    private mutating func forget(_ isOver: (Entry) -> Bool) {
        entries.removeAll(where: isOver)
        count = entries.reduce(0) { $0 + $1.comparisons.count }
    }

    mutating func removeAll() { (entries, count, isIncomplete) = ([], 0, false) }
}
