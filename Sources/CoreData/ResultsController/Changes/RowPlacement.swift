/// Applies the decisions of ``ListFollower``: removes rows, and finds the positions of arriving ones.
///
/// Design. Positions are searched in the list without the removed rows, so a row with new values is never compared with
/// its own old place, and rows are only compared with rows whose values agree with their place. Few changes are applied
/// to the tree one by one, O(k log n); many are merged into a new tree, O(n + k), with the same number of comparisons.
struct RowPlacement {
    /// A row to be inserted.
    struct Arrival {
        var row: RowToken
        var section: UInt32
    }

    /// The rows that are removed from their place, each once: deleted rows, and rows whose values changed.
    var removed: [RowToken] = []
    /// The rows to insert, in list order. The rows of one section need not be adjacent.
    var arrivals: [Arrival] = []

    /// True if the first section, by number, precedes the second; `nil` if sections are in the order of their rows.
    var sectionOrder: ((UInt32, UInt32) -> Bool)?

    /// True if a staying row should not be compared with, since its values are about to change. `nil` if there are no
    /// such rows.
    var isDoubtful: ((RowToken) -> Bool)?
    /// The number of parts into which a search step divides the possible range. A larger one needs fewer rounds in
    /// sequence, each of more rows.
    var fanout = 2
    /// Returns the row at which to begin the search for an arrival, if `isWanted` accepts it: probably the row after
    /// it. Called if there are many candidate rows and they are not in memory.
    var hint: ((_ arrival: Int, _ isWanted: (RowToken) -> Bool) -> RowToken?)?
    /// True if a row can be compared with without reading it.
    var isAtHand: (RowToken) -> Bool = { _ in false }
    /// Receives, for each arrival, the adjacent rows that it was compared with. Only these comparisons matter: rows are
    /// sorted, so a wrong comparison on the way places the arrival next to the row that was compared wrongly.
    var noteNeighbour: ((Probe) -> Void)?

    /// A staying row and the number of an arrival, whose order is to be found.
    struct Probe {
        let row: RowToken
        let arrival: Int
    }

    /// The list after the edit.
    ///
    /// - Parameter areBefore: for each probe, true if its row precedes its arrival. Called O(log n) times in all, each
    ///   time for all arrivals without a known position, so that the values of rows can be read together.
    func applied<Failure: Error>(
        to old: ListContents, areBefore: ([Probe]) throws(Failure) -> [Bool]
    ) throws(Failure) -> ListContents {
        if removed.count + arrivals.count > max(Self.alwaysSmall, old.rowCount / 100) {
            let base = FlatList(old, without: removed)
            return Self.merged(
                base, plans(try found(in: base, areBefore: areBefore)), arrivalCount: arrivals.count)
        }
        // A single copy takes all changes: another one would duplicate the nodes that they write.
        var contents = old
        for row in removed { contents.remove(row) }
        Self.insert(plans(try found(in: contents, areBefore: areBefore)), into: &contents)
        return contents
    }

    /// Maximum number of changes that are applied one by one, whatever the length of the list.
    static let alwaysSmall = 64

    // MARK: Places

    /// The search for the position of one arrival: among the rows of its section, or, if the section is new, among
    /// sections.
    private struct Search {
        /// The section's index and the position of its first row; `nil` for a new section.
        let section: (index: Int, start: Int)?
        /// The positions, of rows or of sections, that are still possible.
        var low: Int
        var high: Int
        /// The positions directly before and at the result, once they were compared.
        var below: Int?
        var above: Int?
        /// The position at which the search begins.
        var hint: Int?

        var isOpen: Bool { low < high }

        /// Applies an answer. Answers are in ascending order; one that contradicts an earlier one is ignored.
        mutating func narrow(at place: Int, isBefore: Bool) {
            guard place >= low, place < high else { return }
            if isBefore {
                (low, below) = (place + 1, place)
            } else {
                (high, above) = (place, place)
            }
        }

        var middle: Int { low + (high - low) / 2 }
    }

    /// Finds the positions of all arrivals, one step of each at a time.
    private func found<Failure: Error>(
        in base: some RemainingRows, areBefore: ([Probe]) throws(Failure) -> [Bool]
    ) throws(Failure) -> [Search] {
        var searches = arrivals.map { arrival in
            guard let section = base.section(numbered: arrival.section) else {
                guard let sectionOrder else { return Search(section: nil, low: 0, high: base.sectionCount) }
                let index = (0..<base.sectionCount).partitioningIndex {
                    !sectionOrder(base.sectionNumber(at: $0), arrival.section)
                }
                return Search(section: nil, low: index, high: index)
            }
            return Search(
                section: (section.index, section.rows.lowerBound), low: section.rows.lowerBound,
                high: section.rows.upperBound)
        }
        if let hint { begin(&searches, in: base, by: hint) }
        var open = searches.indices.filter { searches[$0].isOpen }
        while !open.isEmpty {
            var probes: [Probe] = []
            var places: [Int] = []
            probes.reserveCapacity(open.count * (fanout - 1))
            places.reserveCapacity(open.count * (fanout - 1))
            for number in open {
                forEachPlace(of: searches[number], in: base) { place in
                    places.append(place)
                    probes.append(Probe(row: row(at: place, of: searches[number], in: base), arrival: number))
                }
            }
            for ((probe, place), isBefore) in zip(zip(probes, places), try areBefore(probes)) {
                searches[probe.arrival].narrow(at: place, isBefore: isBefore)
                searches[probe.arrival].hint = nil
            }
            open.removeAll { !searches[$0].isOpen }
        }
        if let noteNeighbour { note(searches, in: base, noteNeighbour) }
        return searches
    }

    private static let fewestRowsForHint = 256

    private func begin(
        _ searches: inout [Search], in base: some RemainingRows, by hint: (Int, (RowToken) -> Bool) -> RowToken?
    ) {
        for number in searches.indices {
            let search = searches[number]
            guard search.section != nil, search.high - search.low >= Self.fewestRowsForHint,
                !isAtHand(base.row(at: search.middle))
            else { continue }
            var position: Int?
            _ = hint(number) { row in
                guard isDoubtful?(row) != true, let found = base.quickPosition(of: row), found >= search.low,
                    found < search.high
                else { return false }
                position = found
                return true
            }
            searches[number].hint = position
        }
    }

    /// The row that represents a position of a search: for a section its first row.
    private func row(at place: Int, of search: Search, in base: some RemainingRows) -> RowToken {
        base.row(at: search.section == nil ? base.start(ofSectionAt: place) : place)
    }

    private func note(_ searches: [Search], in base: some RemainingRows, _ noteNeighbour: (Probe) -> Void) {
        for (number, search) in searches.enumerated() {
            for place in [search.below, search.above] {
                guard let place else { continue }
                noteNeighbour(Probe(row: row(at: place, of: search, in: base), arrival: number))
            }
        }
    }

    /// The places to compare with next, ascending.
    private func forEachPlace(of search: Search, in base: some RemainingRows, _ body: (Int) -> Void) {
        if let hint = search.hint { return (max(search.low, hint - 1)...hint).forEach(body) }
        let width = search.high - search.low
        let count = min(fanout - 1, width)
        guard count > 1 else { return body(middle(of: search, in: base)) }
        let places = (1...count).map { search.low + width * $0 / (count + 1) }
        guard let isDoubtful, search.section != nil else { return places.forEach(body) }
        let certain = places.filter { !isDoubtful(base.row(at: $0)) }
        (certain.isEmpty ? places : certain).forEach(body)
    }

    /// The greatest distance from the middle at which a row that is not doubtful is searched for.
    private static let farthest = 8

    /// The position to compare with next: the middle of the possible range, or one near it.
    private func middle(of search: Search, in base: some RemainingRows) -> Int {
        let middle = search.middle
        guard let isDoubtful, search.section != nil, isDoubtful(base.row(at: middle)) else { return middle }
        for distance in 1...Self.farthest {
            for position in [middle - distance, middle + distance]
            where position >= search.low && position < search.high && !isDoubtful(base.row(at: position)) {
                return position
            }
        }
        return middle
    }

    /// The rows that are inserted into one section.
    private struct SectionPlan {
        let number: UInt32
        /// The section's index in the base, or the index at which it is inserted.
        var index: Int
        var isNew: Bool
        /// The rows, ascending by the position in the section's rows of the base at which they are inserted.
        var rows: [(position: Int, row: RowToken)] = []
    }

    /// The rows to insert into each section, with the sections in list order.
    private func plans(_ searches: [Search]) -> [SectionPlan] {
        var plans: [SectionPlan] = []
        var numbers: [UInt32: Int] = [:]
        for (arrival, search) in zip(arrivals, searches) {
            let number: Int
            if let last = plans.last, last.number == arrival.section {
                number = plans.count - 1
            } else if let known = numbers[arrival.section] {
                number = known
            } else {
                number = plans.count
                numbers[arrival.section] = number
                let index = search.section?.index ?? search.low
                plans.append(SectionPlan(number: arrival.section, index: index, isNew: search.section == nil))
            }
            let start = search.section?.start ?? search.low
            // Arrivals are sorted, so a position before the last one can only result from contradictory values.
            let position = max(search.low - start, plans[number].rows.last?.position ?? 0)
            plans[number].rows.append((position, arrival.row))
        }
        // A new section precedes the section at the same index; several new ones are in the order of their first rows.
        return plans.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            if a.index == b.index, a.isNew, b.isNew, let sectionOrder { return sectionOrder(a.number, b.number) }
            return (a.index, a.isNew ? 0 : 1, left.offset) < (b.index, b.isNew ? 0 : 1, right.offset)
        }.map(\.element)
    }

    // MARK: Few changes

    /// Inserts backwards, so that the positions that were found stay valid.
    private static func insert(_ plans: [SectionPlan], into contents: inout ListContents) {
        for plan in plans.reversed() {
            if plan.isNew {
                contents.insertSection(number: plan.number, rows: plan.rows.map(\.row), at: plan.index)
            } else {
                for (position, row) in plan.rows.reversed() {
                    contents.insert(row, at: position, inSection: plan.number)
                }
            }
        }
    }

    // MARK: Many changes

    private static func merged(_ base: FlatList, _ plans: [SectionPlan], arrivalCount: Int) -> ListContents {
        var rows: [RowToken] = []
        rows.reserveCapacity(base.rows.count + arrivalCount)
        var sections: [SectionEntry] = []
        sections.reserveCapacity(base.sectionCount + plans.count)
        var index = 0
        var position = 0
        func copyRows(to end: Int) {
            rows.append(contentsOf: base.rows[position..<end])
            position = end
        }
        for plan in plans {
            sections.append(contentsOf: base.sections[index..<plan.index])
            index = plan.index
            let start = base.start(ofSectionAt: index)
            copyRows(to: start)
            for (offset, row) in plan.rows {
                if !plan.isNew { copyRows(to: start + offset) }
                rows.append(row)
            }
            var section = SectionEntry(number: plan.number, rowCount: UInt32(plan.rows.count))
            if !plan.isNew {
                section.rowCount += base.sections[index].rowCount
                index += 1
            }
            sections.append(section)
        }
        sections.append(contentsOf: base.sections[index...])
        copyRows(to: base.rows.count)
        return ListContents(
            rows: SharedElements(rows), sections: sections, isSectioned: base.isSectioned,
            keptSections: base.keptSections)
    }
}
