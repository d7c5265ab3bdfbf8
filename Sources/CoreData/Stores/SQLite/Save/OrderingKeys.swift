/// The numbers that store the order of an ordered relationship: ascending, with gaps. Stores on a server use the same.
/// Change sets contain indexes.
///
/// A new list has 2048, 3072, 4096 …. An inserted element gets a number in a gap, so that few rows change.
package enum OrderingKeys {
    package static let first: Int64 = 2048
    package static let step: Int64 = 1024

    /// An upper limit of ordering keys, larger than any key in a list of a thousand million elements.
    private static let greatest: Int64 = 1 << 40

    /// Returns the number after the whole list, whose greatest is `last`; `last` itself if there is none greater.
    static func key(behind last: Int64) -> Int64 { last > .max - step ? last : last + step }

    /// Returns the number for an index in a list that is written completely.
    package static func key(at index: Int) -> Int64 { first + step * Int64(index) }

    /// Returns new numbers for a list in its new order, given the `current` ones (`nil` for new elements).
    ///
    /// The longest ascending part keeps its numbers, except for numbers too large for any list, which a damaged file
    /// may have. If a gap is too small, all elements get new numbers.
    static func assign(_ current: [Int64?]) -> [Int64] {
        let kept = Set(AscendingRun.longest(in: current.map { $0.flatMap { 1..<greatest ~= $0 ? $0 : nil } }))
        var result = [Int64](repeating: 0, count: current.count)
        var index = 0
        var previous: Int64 = first - step
        while index < current.count {
            if kept.contains(index), let key = current[index] {
                result[index] = key
                previous = key
                index += 1
                continue
            }
            var end = index
            while end < current.count, !kept.contains(end) { end += 1 }
            let count = Int64(end - index)
            let next = end < current.count ? current[end] ?? 0 : previous + (count + 1) * step
            let room = next - previous
            guard room > count else { return current.indices.map(key) }
            for offset in 1...count { result[index + Int(offset) - 1] = previous + room * offset / (count + 1) }
            index = end
            previous = result[end - 1]
        }
        return result
    }
}
