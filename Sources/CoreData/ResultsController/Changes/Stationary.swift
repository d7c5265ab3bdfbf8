/// Finds the touched items that can stay in place, so that as few as possible move.
///
/// Untouched items keep their order. An item can stay only if the number of untouched ones before it (its gap) is the
/// same; among items of one gap those stay that form a longest run in the old order.
enum Stationary {
    /// One touched item. Orders are positions among the touched items of the old and of the new state.
    struct Item {
        var oldOrder: Int
        var newOrder: Int
        /// The group of the item in the old and in the new state, and the number of untouched items of the group before
        /// it.
        var oldGap: (group: UInt32, count: Int)
        var newGap: (group: UInt32, count: Int)
    }

    /// For each item, true if it stays. Of several longest runs, the one with the lower old positions. O(k log k).
    static func staying(_ items: [Item]) -> [Bool] {
        var staying = Array(repeating: false, count: items.count)
        var run: [Int] = []
        func endRun() {
            for item in longestRun(run, in: items) { staying[item] = true }
            run.removeAll(keepingCapacity: true)
        }
        let candidates = items.indices.filter { items[$0].oldGap == items[$0].newGap }
        for candidate in candidates.sorted(by: { items[$0].newOrder < items[$1].newOrder }) {
            if let last = run.last, items[last].newGap != items[candidate].newGap { endRun() }
            run.append(candidate)
        }
        endRun()
        return staying
    }

    /// The longest subsequence of `run`, which is in the new order, with ascending old orders.
    private static func longestRun(_ run: [Int], in items: [Item]) -> [Int] {
        guard run.count > 1 else { return run }
        return AscendingRun.longest(in: run.map { Int64(items[$0].oldOrder) }).map { run[$0] }
    }
}
