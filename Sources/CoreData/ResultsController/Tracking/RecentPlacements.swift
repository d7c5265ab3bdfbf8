import Dispatch

/// Rows that were given a place lately, and may have been compared with rows that were newer than the list.
///
/// A row that the context does not hold is read from the store as it is now. If another process changed it a moment ago,
/// the change is in the store but not yet merged, and whatever is compared with it may come to stand in the wrong place.
/// The change is merged soon; then the rows of this list are put into place once more.
struct RecentPlacements {
    /// As many rows are remembered at most.
    private static let limit = 4_096
    /// Rows are put into place again for so many merges and so long, whichever is more.
    private static let merges = 4
    private static let seconds = 5.0

    private struct Entry {
        let row: RowToken
        let merge: Int
        let time: DispatchTime
    }

    private var entries: [Entry] = []
    private var merge = 0

    mutating func note(_ rows: [RowToken]) {
        let now = DispatchTime.now()
        entries += rows.suffix(Self.limit).map { Entry(row: $0, merge: merge, time: now) }
        if entries.count > 2 * Self.limit { entries.removeFirst(entries.count - Self.limit) }
    }

    /// The rows to put into place again with a merge of others' changes.
    mutating func takeForMerge() -> [RowToken] {
        merge += 1
        let now = DispatchTime.now()
        entries.removeAll { entry in
            let age = Double(now.uptimeNanoseconds - entry.time.uptimeNanoseconds) / 1e9
            return merge - entry.merge > Self.merges && age > Self.seconds
        }
        var seen: Set<RowToken> = []
        return entries.suffix(Self.limit).map(\.row).filter { seen.insert($0).inserted }
    }

    mutating func removeAll() { entries = [] }
}
