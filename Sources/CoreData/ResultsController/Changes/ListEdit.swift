/// Brings a list from one state to the next: takes rows out, and puts rows where they belong by the order of the list.
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

    /// The rows that leave their place: those that leave the list, and those whose values changed.
    var removed: [RowToken] = []
    /// The rows that get a place, in the order of the list. Those of one section need not stand together.
    var arrivals: [Arrival] = []

    /// The list after the edit.
    ///
    /// - Parameters:
    ///   - prepare: told of all rows that are about to be compared, so that their values can be read together.
    ///   - isBefore: whether a row that stays comes before a row that arrives. Called O(log n) times for each arrival.
    func applied<Failure: Error>(
        to old: ListContents, prepare: ([RowToken]) throws(Failure) -> Void,
        isBefore: (RowToken, RowToken) throws(Failure) -> Bool
    ) throws(Failure) -> ListContents {
        let isLarge = removed.count + arrivals.count > max(Self.alwaysSmall, old.rowCount / 100)
        let base = isLarge ? Self.rebuilt(old, without: removed) : Self.edited(old, without: removed)
        let searches = try found(in: base, prepare: prepare, isBefore: isBefore)
        let plan = plans(searches, in: base)
        return isLarge ? Self.merged(base, plan) : Self.edited(base, plan)
    }

    /// Up to so many changes are made one by one, however short the list.
    static let alwaysSmall = 64

    // MARK: Places

    /// The search for the place of one arrival: among the rows of its section, or, if the section is new, among sections.
    private struct Search {
        let isNew: Bool
        /// The positions, of rows or of sections, that are still possible.
        var low: Int
        var high: Int
    }

    /// Finds the places of all arrivals, a step of each at a time, so that the rows of a step can be read together.
    private func found<Failure: Error>(
        in base: ListContents, prepare: ([RowToken]) throws(Failure) -> Void,
        isBefore: (RowToken, RowToken) throws(Failure) -> Bool
    ) throws(Failure) -> [Search] {
        var searches = arrivals.map { arrival in
            guard base.index(ofSection: arrival.section) != nil else {
                return Search(isNew: true, low: 0, high: base.sectionCount)
            }
            let range = base.range(ofSection: arrival.section)
            return Search(isNew: false, low: range.lowerBound, high: range.upperBound)
        }
        var open = searches.indices.filter { searches[$0].low < searches[$0].high }
        while !open.isEmpty {
            let rows = open.map { number in
                let middle = searches[number].low + (searches[number].high - searches[number].low) / 2
                return base.rows[searches[number].isNew ? base.sections.weight(before: middle) : middle]
            }
            try prepare(rows)
            for (number, row) in zip(open, rows) {
                let middle = searches[number].low + (searches[number].high - searches[number].low) / 2
                if try isBefore(row, arrivals[number].row) {
                    searches[number].low = middle + 1
                } else {
                    searches[number].high = middle
                }
            }
            open.removeAll { searches[$0].low >= searches[$0].high }
        }
        return searches
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
    private func plans(_ searches: [Search], in base: ListContents) -> [SectionPlan] {
        var plans: [SectionPlan] = []
        var numbers: [UInt32: Int] = [:]
        for (arrival, search) in zip(arrivals, searches) {
            let number: Int
            if let known = numbers[arrival.section] {
                number = known
            } else {
                number = plans.count
                numbers[arrival.section] = number
                let index = search.isNew ? search.low : base.index(ofSection: arrival.section) ?? 0
                plans.append(SectionPlan(number: arrival.section, index: index, isNew: search.isNew))
            }
            let start = search.isNew ? search.low : base.range(ofSection: arrival.section).lowerBound
            // Arrivals come in order, so a place before the last one can only come from values that contradict each other.
            let position = max(search.low - start, plans[number].rows.last?.position ?? 0)
            plans[number].rows.append((position, arrival.row))
        }
        // A new section comes before the section at the same index; several of them in the order of their first rows.
        return plans.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            return (a.index, a.isNew ? 0 : 1, left.offset) < (b.index, b.isNew ? 0 : 1, right.offset)
        }.map(\.element)
    }

    // MARK: Few changes

    private static func edited(_ old: ListContents, without removed: [RowToken]) -> ListContents {
        var contents = old
        for row in removed { contents.remove(row) }
        return contents
    }

    /// Works backwards, so that the positions found in the base stay right.
    private static func edited(_ base: ListContents, _ plans: [SectionPlan]) -> ListContents {
        var contents = base
        for plan in plans.reversed() {
            if plan.isNew {
                contents.insertSection(number: plan.number, rows: plan.rows.map(\.row), at: plan.index)
            } else {
                for (position, row) in plan.rows.reversed() {
                    contents.insert(row, at: position, inSection: plan.number)
                }
            }
        }
        return contents
    }

    // MARK: Many changes

    private static func rebuilt(_ old: ListContents, without removed: [RowToken]) -> ListContents {
        guard !removed.isEmpty else { return old }
        let leaving = Set(removed)
        var rows: [RowToken] = []
        rows.reserveCapacity(old.rowCount)
        var sections: [SectionEntry] = []
        var position = 0
        for section in old.allSections {
            let before = rows.count
            let all = old.rows.elements(in: position..<position + section.weight)
            for row in all where !leaving.contains(row) { rows.append(row) }
            position += section.weight
            let count = UInt32(rows.count - before)
            if count > 0 { sections.append(SectionEntry(number: section.number, rowCount: count)) }
        }
        return ListContents(rows: SharedElements(rows), sections: sections, isSectioned: old.isSectioned)
    }

    private static func merged(_ base: ListContents, _ plans: [SectionPlan]) -> ListContents {
        var rows: [RowToken] = []
        rows.reserveCapacity(base.rowCount + plans.reduce(0) { $0 + $1.rows.count })
        var sections: [SectionEntry] = []
        var position = 0
        var next = 0
        for (index, section) in (base.allSections + [SectionEntry(number: .max, rowCount: 0)]).enumerated() {
            while next < plans.count, plans[next].index == index, plans[next].isNew {
                rows.append(contentsOf: plans[next].rows.lazy.map(\.row))
                let count = UInt32(plans[next].rows.count)
                sections.append(SectionEntry(number: plans[next].number, rowCount: count))
                next += 1
            }
            guard section.number != .max else { break }
            var count = section.weight
            let start = position
            if next < plans.count, plans[next].number == section.number {
                for (offset, row) in plans[next].rows {
                    rows.append(contentsOf: base.rows.elements(in: position..<start + offset))
                    rows.append(row)
                    position = start + offset
                }
                count += plans[next].rows.count
                next += 1
            }
            rows.append(contentsOf: base.rows.elements(in: position..<start + section.weight))
            position = start + section.weight
            sections.append(SectionEntry(number: section.number, rowCount: UInt32(count)))
        }
        return ListContents(rows: SharedElements(rows), sections: sections, isSectioned: base.isSectioned)
    }
}
