/// The numbers that keep an ordered relationship's order in the file: ascending, with room between them. A store on a server has
/// the same; what stores are told are indexes.
///
/// A new list counts 2048, 3072, 4096 …; what is put in between takes a number in between, so that few rows change.
package enum OrderingKeys {
    package static let first: Int64 = 2048
    package static let step: Int64 = 1024

    /// A list of a thousand million has smaller ones.
    private static let greatest: Int64 = 1 << 40

    /// The number behind all of a list, of which `last` is the greatest; the same where there is none behind it.
    static func key(behind last: Int64) -> Int64 { last > .max - step ? last : last + step }

    /// The number for a place in a list that is written as a whole.
    package static func key(at index: Int) -> Int64 { first + step * Int64(index) }

    /// New numbers for a list whose elements now have `current` (`nil`: none yet), in the order that it shall have.
    ///
    /// The longest ascending part keeps its numbers, but for those that no list comes to, which a damaged file may have. Where
    /// there is no room left all get new ones.
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
