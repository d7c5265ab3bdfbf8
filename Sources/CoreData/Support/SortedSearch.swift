/// Searches in sorted collections.
extension RandomAccessCollection {
    /// The index of the first element of the second part; `endIndex` if that part is empty.
    ///
    /// - Parameter belongsInSecondPartition: true for elements of the second part. All of them follow those of the
    ///   first.
    /// - Complexity: O(log *n*) calls.
    @inline(__always)
    func partitioningIndex(where belongsInSecondPartition: (Element) throws -> Bool) rethrows -> Index {
        var low = startIndex
        var count = count
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if try belongsInSecondPartition(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}

enum AscendingRun {
    /// The indexes of a longest strictly ascending subsequence of the non-nil keys (patience sorting).
    ///
    /// - Complexity: O(*n* log *n*).
    static func longest(in keys: [Int64?]) -> [Int] {
        // For each length, the run of that length whose last key is lowest: the position of its last key.
        // `predecessors` has, for each position, the one before it in its run.
        var ends: [(place: Int, key: Int64)] = []
        var predecessors = Array(repeating: -1, count: keys.count)
        for (place, key) in keys.enumerated() {
            guard let key else { continue }
            // In a nearly sorted list most keys extend the longest run.
            let isLast = ends.last.map { $0.key < key } ?? true
            let length = isLast ? ends.count : ends.partitioningIndex { $0.key >= key }
            if length > 0 { predecessors[place] = ends[length - 1].place }
            if length == ends.count { ends.append((place, key)) } else { ends[length] = (place, key) }
        }
        var places: [Int] = []
        var next = ends.last?.place ?? -1
        while next >= 0 {
            places.append(next)
            next = predecessors[next]
        }
        return places
    }
}
