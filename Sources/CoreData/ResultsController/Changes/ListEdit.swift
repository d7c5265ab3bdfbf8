/// Carries out what a list's editor decided: takes rows out, and searches the places of those that arrive.
///
/// Design. Places are searched in what remains after the removals, so that a row with new values is never compared with
/// its own old place, and rows are only compared with rows whose values agree with their place. Few changes go into the
/// tree one by one, O(k log n); many are merged into a new one, O(n + k), with the same number of comparisons.
struct ListEdit {
    /// A row that gets a place.
    struct Arrival {
        var row: RowToken
        var section: UInt32
    }

    /// The rows that leave their place, each once: those that leave the list, and those whose values changed.
    var removed: [RowToken] = []
    /// The rows that get a place, in the order of the list. Those of one section need not stand together.
    var arrivals: [Arrival] = []

    /// Whether a section comes before another one, by their numbers; `nil` where sections stand in the order of their rows.
    var sectionOrder: ((UInt32, UInt32) -> Bool)?

    /// Whether it is better not to compare with a row that stays: its values are about to become others. `nil` for no row.
    var isDoubtful: ((RowToken) -> Bool)?
    /// Into how many parts a step of the search divides what is possible. With more, fewer questions are asked, each about
    /// more rows.
    var fanout = 2
    /// Says with which row the search for the place of an arrival may begin, if that is one that `isWanted`: the row that
    /// probably comes behind it. It is asked where the rows in question are many and not at hand.
    var hint: ((_ arrival: Int, _ isWanted: (RowToken) -> Bool) -> RowToken?)?
    /// Whether a row can be compared with without reading it.
    var isAtHand: (RowToken) -> Bool = { _ in false }
    /// Told, for each arrival, the rows between which it comes, as far as it was compared with them. Only these comparisons
    /// count: rows stand in order, so with a wrong one on the way the arrival comes to stand beside the row of a wrong one.
    var noteNeighbour: ((Probe) -> Void)?

    /// A row that stays and the number of an arrival, of which one is to come before the other.
    struct Probe {
        let row: RowToken
        let arrival: Int
    }

    /// The list after the edit.
    ///
    /// - Parameter areBefore: for each probe, whether its row comes before its arrival. Called O(log n) times in all, each
    ///   time for all arrivals whose place is not known yet, so that the values of rows can be read together.
    func applied<Failure: Error>(
        to old: ListContents, areBefore: ([Probe]) throws(Failure) -> [Bool]
    ) throws(Failure) -> ListContents {
        if removed.count + arrivals.count > max(Self.alwaysSmall, old.rowCount / 100) {
            let base = FlatList(old, without: removed)
            return Self.merged(
                base, plans(try found(in: base, areBefore: areBefore)), arrivalCount: arrivals.count)
        }
        // One copy takes all changes: each further one would duplicate what they write.
        var contents = old
        for row in removed { contents.remove(row) }
        Self.insert(plans(try found(in: contents, areBefore: areBefore)), into: &contents)
        return contents
    }

    /// Up to so many changes are made one by one, however short the list.
    static let alwaysSmall = 64

    // MARK: Places

    /// The search for the place of one arrival: among the rows of its section, or, if the section is new, among sections.
    private struct Search {
        /// The section's index and where its rows begin; `nil` for a new one.
        let section: (index: Int, start: Int)?
        /// The positions, of rows or of sections, that are still possible.
        var low: Int
        var high: Int
        /// The position below and the one at the end of these, once they were compared.
        var below: Int?
        var above: Int?
        /// The position before which the place is looked for first.
        var hint: Int?

        var isOpen: Bool { low < high }

        /// Takes an answer over. Answers for ascending places; those that contradict an earlier one do not count.
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

    /// Finds the places of all arrivals, a step of each at a time.
    private func found<Failure: Error>(
        in base: some ListBase, areBefore: ([Probe]) throws(Failure) -> [Bool]
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
        _ searches: inout [Search], in base: some ListBase, by hint: (Int, (RowToken) -> Bool) -> RowToken?
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

    /// The row that stands for a place of a search: of a section the first one.
    private func row(at place: Int, of search: Search, in base: some ListBase) -> RowToken {
        base.row(at: search.section == nil ? base.start(ofSectionAt: place) : place)
    }

    private func note(_ searches: [Search], in base: some ListBase, _ noteNeighbour: (Probe) -> Void) {
        for (number, search) in searches.enumerated() {
            for place in [search.below, search.above] {
                guard let place else { continue }
                noteNeighbour(Probe(row: row(at: place, of: search, in: base), arrival: number))
            }
        }
    }

    /// The places to compare with next, ascending.
    private func forEachPlace(of search: Search, in base: some ListBase, _ body: (Int) -> Void) {
        if let hint = search.hint { return (max(search.low, hint - 1)...hint).forEach(body) }
        let width = search.high - search.low
        let count = min(fanout - 1, width)
        guard count > 1 else { return body(middle(of: search, in: base)) }
        let places = (1...count).map { search.low + width * $0 / (count + 1) }
        guard let isDoubtful, search.section != nil else { return places.forEach(body) }
        let certain = places.filter { !isDoubtful(base.row(at: $0)) }
        (certain.isEmpty ? places : certain).forEach(body)
    }

    /// So far from the middle a row is looked for that is not doubtful.
    private static let farthest = 8

    /// The position to compare with next: the middle of what is possible, or one beside it.
    private func middle(of search: Search, in base: some ListBase) -> Int {
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

    /// The rows that one section gets.
    private struct SectionPlan {
        let number: UInt32
        /// The section's index in the base, or the index before which it is inserted.
        var index: Int
        var isNew: Bool
        /// The rows, ascending by the position inside the section's rows of the base before which they come.
        var rows: [(position: Int, row: RowToken)] = []
    }

    /// Where everything goes: the sections in the order of the list.
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
            // Arrivals come in order, so a place before the last one can only come from values that contradict each other.
            let position = max(search.low - start, plans[number].rows.last?.position ?? 0)
            plans[number].rows.append((position, arrival.row))
        }
        // A new section comes before the section at the same index; several of them in the order of their first rows.
        return plans.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            if a.index == b.index, a.isNew, b.isNew, let sectionOrder { return sectionOrder(a.number, b.number) }
            return (a.index, a.isNew ? 0 : 1, left.offset) < (b.index, b.isNew ? 0 : 1, right.offset)
        }.map(\.element)
    }

    // MARK: Few changes

    /// Works backwards, so that the positions found stay right.
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
