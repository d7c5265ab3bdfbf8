/// Pairs of source and destination rows, in the order in which they were recorded, for stores of any size.
///
/// Rows with consecutive keys on both sides are stored as one run, so a migration of a million rows in key order
/// stores a few numbers. Other orders take about 40 bytes per pair.
struct RowPairs {
    /// The pairs of two entities.
    private struct Lane {
        let source: UInt32
        let destination: UInt32
        var pairs = KeyPairs()
        /// The starts of this lane's stretches: in the lane, and among all pairs.
        var stretches: [(own: Int, all: Int)] = []

        /// The index, among all pairs, of a pair of the lane.
        func place(of own: Int) -> Int {
            let stretch = stretches[stretches.partitioningIndex { $0.own > own } - 1]
            return stretch.all + own - stretch.own
        }
    }

    private var lanes: [Lane] = []
    /// The lanes of the pairs, in order. Each stretch ends at the start of the next.
    private var stretches: [(all: Int, lane: Int)] = []
    private(set) var count = 0

    mutating func add(_ source: RowKey, _ destination: RowKey) {
        let lane = lane(source.entity, destination.entity)
        if stretches.last?.lane != lane {
            stretches.append((count, lane))
            lanes[lane].stretches.append((lanes[lane].pairs.count, count))
        }
        lanes[lane].pairs.add(source.reference, destination.reference)
        count += 1
    }

    private mutating func lane(_ source: UInt32, _ destination: UInt32) -> Int {
        if let known = lanes.firstIndex(where: { $0.source == source && $0.destination == destination }) {
            return known
        }
        lanes.append(Lane(source: source, destination: destination))
        return lanes.count - 1
    }

    /// The pairs in this range of indexes.
    subscript(range: Range<Int>) -> [(source: RowKey, destination: RowKey)] {
        guard !range.isEmpty else { return [] }
        var stretch = stretches.partitioningIndex { $0.all > range.lowerBound } - 1
        return range.map { place in
            while stretch + 1 < stretches.count, stretches[stretch + 1].all <= place { stretch += 1 }
            let lane = lanes[stretches[stretch].lane]
            let begin = lane.stretches[lane.stretches.partitioningIndex { $0.all > place } - 1]
            let pair = lane.pairs[begin.own + place - begin.all]
            return (
                RowKey(entity: lane.source, reference: pair.source),
                RowKey(entity: lane.destination, reference: pair.destination)
            )
        }
    }

    /// The destination rows of a source row, in the order in which they were recorded.
    func destinations(of source: RowKey) -> [RowKey] {
        others(of: source.reference, .source) { $0.source == source.entity ? $0.destination : nil }
    }

    /// The source rows of a destination row.
    func sources(of destination: RowKey) -> [RowKey] {
        others(of: destination.reference, .destination) { $0.destination == destination.entity ? $0.source : nil }
    }

    private func others(of key: Int64, _ side: KeyPairs.Side, entity: (Lane) -> UInt32?) -> [RowKey] {
        var found: [(place: Int, key: RowKey)] = []
        var lanesWithPairs = 0
        for lane in lanes {
            guard let entity = entity(lane) else { continue }
            let pairs = lane.pairs.pairs(with: key, on: side)
            if !pairs.isEmpty { lanesWithPairs += 1 }
            found += pairs.map { (lane.place(of: $0.number), RowKey(entity: entity, reference: $0.other)) }
        }
        if lanesWithPairs > 1 { found.sort { $0.place < $1.place } }
        return found.map(\.key)
    }
}

/// Pairs of keys of two entities, stored as runs.
struct KeyPairs {
    enum Side { case source, destination }

    /// Pairs with consecutive keys on both sides, up to the start of the next run.
    private struct Run {
        let number: Int
        let source: Int64
        let destination: Int64

        func key(_ side: Side) -> Int64 { side == .source ? source : destination }
    }

    /// The lookup method for the keys of one side.
    private enum Order {
        /// The keys are ascending: binary search in the runs.
        case ascending
        /// For each key, the index of its last pair; for each pair, that of the previous pair with the same key, or
        /// -1.
        case scattered(last: [Int64: Int32], before: [Int32])
    }

    private var runs: [Run] = []
    private(set) var count = 0
    private var bySource = Order.ascending
    private var byDestination = Order.ascending

    mutating func add(_ source: Int64, _ destination: Int64) {
        if let last = runs.last {
            let length = Int64(count - last.number)
            if source != last.source &+ length || destination != last.destination &+ length {
                if source < last.source &+ (length - 1) { bySource = scattered(bySource, .source) }
                if destination < last.destination &+ (length - 1) {
                    byDestination = scattered(byDestination, .destination)
                }
                runs.append(Run(number: count, source: source, destination: destination))
            }
        } else {
            runs.append(Run(number: count, source: source, destination: destination))
        }
        Self.note(source, count, in: &bySource)
        Self.note(destination, count, in: &byDestination)
        count += 1
    }

    private func scattered(_ order: Order, _ side: Side) -> Order {
        guard case .ascending = order else { return order }
        var order = Order.scattered(last: [:], before: [])
        for number in 0..<count {
            let pair = self[number]
            Self.note(side == .source ? pair.source : pair.destination, number, in: &order)
        }
        return order
    }

    private static func note(_ key: Int64, _ number: Int, in order: inout Order) {
        guard case .scattered(var last, var before) = order else { return }
        // Resetting `order` first avoids a copy of the arrays: they then have one owner.
        order = .ascending
        before.append(last.updateValue(Int32(truncatingIfNeeded: number), forKey: key) ?? -1)
        order = .scattered(last: last, before: before)
    }

    subscript(number: Int) -> (source: Int64, destination: Int64) {
        let run = runs[runs.partitioningIndex { $0.number > number } - 1]
        let offset = Int64(number - run.number)
        return (run.source &+ offset, run.destination &+ offset)
    }

    /// The pairs that have a key on one side: their indexes, ascending, and the keys on the other side.
    func pairs(with key: Int64, on side: Side) -> [(number: Int, other: Int64)] {
        switch side == .source ? bySource : byDestination {
        case .ascending: pairsInOrder(key, side)
        case .scattered(let last, let before):
            scattered(last[key], before).map { number in
                let pair = self[number]
                return (number, side == .source ? pair.destination : pair.source)
            }
        }
    }

    private func scattered(_ last: Int32?, _ before: [Int32]) -> [Int] {
        var numbers: [Int] = []
        var next = last ?? -1
        while next >= 0 {
            numbers.append(Int(next))
            next = before[Int(next)]
        }
        return numbers.reversed()
    }

    private func pairsInOrder(_ key: Int64, _ side: Side) -> [(number: Int, other: Int64)] {
        var found: [(number: Int, other: Int64)] = []
        var place = runs.indices.partitioningIndex { last(of: $0, side) >= key }
        while place < runs.count, runs[place].key(side) <= key {
            let offset = key &- runs[place].key(side)
            let other = (side == .source ? runs[place].destination : runs[place].source) &+ offset
            found.append((runs[place].number + Int(offset), other))
            place += 1
        }
        return found
    }

    /// The last key of a run.
    private func last(of place: Int, _ side: Side) -> Int64 {
        let end = place + 1 < runs.count ? runs[place + 1].number : count
        return runs[place].key(side) &+ Int64(end - runs[place].number - 1)
    }
}
