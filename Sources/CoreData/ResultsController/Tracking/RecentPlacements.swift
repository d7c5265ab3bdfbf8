import Dispatch

/// Rows that were placed recently, with the rows that they were compared with and placed next to.
///
/// A row that the context does not hold is read from the store in its current state. If another process has just
/// changed it, the change is in the store but not merged yet, and rows that are compared with it may be placed wrongly.
/// When the change is merged, the rows that were compared with that row, directly or indirectly, are placed again. With
/// many commits a second these are a few rows, while all recently placed rows would be thousands. Comparisons are
/// forgotten soon to keep it that way, since a row that is placed again is compared again.
struct RecentPlacements {
    /// A row that was placed, and a row of the list that it was compared with.
    struct Comparison {
        let row: RowToken
        let placed: RowToken
    }

    /// The maximum number of comparisons; the oldest are dropped.
    private static let limit = 250_000
    /// The minimum number of merges, and the minimum time, for which comparisons are kept. They are also kept until all
    /// known changes are merged.
    private static let merges = 4
    private static let seconds = 5.0
    /// Seconds before the time since which all commits are merged; older comparisons are forgotten.
    private static let margin = 0.3

    /// The comparisons of one edit of the list.
    private struct Entry {
        var comparisons: [Comparison]
        let merge: Int
        let time: DispatchTime
        /// The rows that were compared with a row; built when a merge first needs it.
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
    /// True if comparisons were dropped that may have been wrong.
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

    /// The rows to place again with a merge of others' changes.
    ///
    /// - Parameters:
    ///   - changed: the rows that the merge changes or deletes.
    ///   - completeSince: the time since which, with this merge, all commits of others are merged: no later merge
    ///     changes a row that was read before it. `nil` if unknown.
    ///   - isBehind: true if more commits, perhaps old ones, are waiting to be merged.
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
