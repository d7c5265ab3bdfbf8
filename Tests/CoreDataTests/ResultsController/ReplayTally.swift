/// Statistics of random replays.
struct ReplayTally: CustomStringConvertible {
    private(set) var batches = 0
    private var lists = 0
    private var withFewestMoves = 0
    private var withSums = 0
    private var sources: [String: Int] = [:]

    mutating func add(_ world: SectionReplayWorld) {
        lists += 1
        batches += world.recorder.batches
        withFewestMoves += world.heard.counted
        withSums += world.sumsBySQL
        sources.merge(world.sources, uniquingKeysWith: +)
    }

    var description: String {
        let each = sources.sorted { $0.key < $1.key }.map { "\($1) of \($0)" }.joined(separator: ", ")
        return "\(batches) batches of \(lists) lists (\(each)); moves counted in \(withFewestMoves), "
            + "sums by SQL after \(withSums)"
    }
}
