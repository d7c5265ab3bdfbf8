/// Compares two states of a list if the changes between them are unknown.
enum ListComparison {
    /// The rows that have to count as touched so that all others are in both states in the same order and section:
    /// those of one state only, those known to have changed, and the fewest others that moved. O(n log n) at worst.
    static func touchedRows(from old: ListContents, to new: ListContents, known: Set<RowToken>) -> Set<RowToken> {
        known.union(changedRows(from: old, to: new, known: known))
    }

    /// The rows of ``touchedRows(from:to:known:)`` without the known ones, each once. One walk over each list.
    static func changedRows(
        from old: ListContents, to new: ListContents, known: Set<RowToken> = []
    ) -> [RowToken] {
        let rows = old.rows.elements(in: 0..<old.rowCount)
        let places = RowNumbers(rows, walked: new.rowCount)
        let sections = sectionNumbers(of: old)
        var isGone = Array(repeating: true, count: rows.count)
        var changed: [RowToken] = []
        var kept: [Int64] = []
        var isInOrder = true
        forEachRow(of: new) { row, section in
            guard let place = places[row] else {
                changed.append(row)
                return
            }
            isGone[place] = false
            if sections[place] != section {
                changed.append(row)
            } else if known.isEmpty || !known.contains(row) {
                if let last = kept.last, last > Int64(place) { isInOrder = false }
                kept.append(Int64(place))
            }
        }
        for (place, row) in rows.enumerated() where isGone[place] { changed.append(row) }
        if !known.isEmpty { changed.removeAll(where: known.contains) }
        guard !isInOrder else { return changed }
        var stays = Array(repeating: false, count: kept.count)
        for number in AscendingRun.longest(in: kept) { stays[number] = true }
        for (number, place) in kept.enumerated() where !stays[number] { changed.append(rows[Int(place)]) }
        return changed
    }

    /// The section number of each row.
    private static func sectionNumbers(of contents: ListContents) -> [UInt32] {
        var numbers: [UInt32] = []
        numbers.reserveCapacity(contents.rowCount)
        for section in contents.allSections {
            numbers.append(contentsOf: repeatElement(section.number, count: section.weight))
        }
        return numbers
    }

    private static func forEachRow(of contents: ListContents, _ body: (RowToken, UInt32) -> Void) {
        let sections = contents.allSections
        var index = -1
        var left = 0
        contents.rows.forEachLeaf { _, rows in
            for row in rows {
                while left == 0 {
                    index += 1
                    left = sections[index].weight
                }
                left -= 1
                body(row, sections[index].number)
            }
        }
    }
}
