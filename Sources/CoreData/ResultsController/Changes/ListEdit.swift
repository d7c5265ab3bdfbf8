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
    /// - Parameter isBefore: whether a row that stays comes before a row that arrives. Called O(log n) times for each.
    func applied(to old: ListContents, isBefore: (RowToken, RowToken) throws -> Bool) rethrows -> ListContents {
        let isLarge = removed.count + arrivals.count > max(Self.alwaysSmall, old.rowCount / 100)
        let base = isLarge ? Self.rebuilt(old, without: removed) : Self.edited(old, without: removed)
        let plan = try places(in: base, isBefore: isBefore)
        return isLarge ? Self.merged(base, plan) : Self.edited(base, plan)
    }

    /// Up to so many changes are made one by one, however short the list.
    static let alwaysSmall = 64

    // MARK: Places

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
    private func places(
        in base: ListContents, isBefore: (RowToken, RowToken) throws -> Bool
    ) rethrows -> [SectionPlan] {
        var plans: [SectionPlan] = []
        var numbers: [UInt32: Int] = [:]
        for arrival in arrivals {
            if let known = numbers[arrival.section] {
                let from = plans[known].rows.last?.position ?? 0
                let position =
                    try plans[known].isNew
                    ? 0 : Self.position(of: arrival, from: from, in: base, isBefore: isBefore)
                plans[known].rows.append((position, arrival.row))
                continue
            }
            numbers[arrival.section] = plans.count
            var plan: SectionPlan
            if let index = base.index(ofSection: arrival.section) {
                let position = try Self.position(of: arrival, from: 0, in: base, isBefore: isBefore)
                plan = SectionPlan(number: arrival.section, index: index, isNew: false)
                plan.rows = [(position, arrival.row)]
            } else {
                let index = try Self.firstIndex(in: 0..<base.sectionCount) { index in
                    let first = base.rows[base.sections.weight(before: index)]
                    return try !isBefore(first, arrival.row)
                }
                plan = SectionPlan(number: arrival.section, index: index, isNew: true)
                plan.rows = [(0, arrival.row)]
            }
            plans.append(plan)
        }
        // A new section comes before the section at the same index; several of them in the order of their first rows.
        return plans.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            return (a.index, a.isNew ? 0 : 1, left.offset) < (b.index, b.isNew ? 0 : 1, right.offset)
        }.map(\.element)
    }

    /// The position, inside the rows of its section, before which `arrival` comes; not before `from`.
    private static func position(
        of arrival: Arrival, from: Int, in base: ListContents, isBefore: (RowToken, RowToken) throws -> Bool
    ) rethrows -> Int {
        let range = base.range(ofSection: arrival.section)
        return try firstIndex(in: range.lowerBound + from..<range.upperBound) { position in
            try !isBefore(base.rows[position], arrival.row)
        } - range.lowerBound
    }

    /// The first index for which `condition` holds, which is false and then true; the upper bound if it never does.
    private static func firstIndex(in range: Range<Int>, where condition: (Int) throws -> Bool) rethrows -> Int {
        var low = range.lowerBound
        var high = range.upperBound
        while low < high {
            let middle = low + (high - low) / 2
            if try condition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
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
