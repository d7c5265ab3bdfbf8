/// Compares two states of a list of which it is not known what happened between them.
enum ListComparison {
    /// The rows that have to count as touched, so that all others are in both states in the same order and section: those
    /// of one state only, those known to have changed, and the fewest others that changed places. O(n log n) at worst.
    static func touchedRows(from old: ListContents, to new: ListContents, known: Set<RowToken>) -> Set<RowToken> {
        var oldPlaces: [RowToken: (position: Int, section: UInt32)] = [:]
        oldPlaces.reserveCapacity(old.rowCount)
        forEachRow(of: old) { row, position, section in oldPlaces[row] = (position, section) }
        var touched = known
        var kept: [(row: RowToken, position: Int)] = []
        var seen = 0
        forEachRow(of: new) { row, _, section in
            guard let place = oldPlaces[row] else {
                touched.insert(row)
                return
            }
            seen += 1
            if place.section != section { touched.insert(row) }
            if !touched.contains(row) { kept.append((row, place.position)) }
        }
        if seen < old.rowCount { forEachRow(of: old) { row, _, _ in if !new.contains(row) { touched.insert(row) } } }
        let isInOrder = zip(kept, kept.dropFirst()).allSatisfy { $0.position < $1.position }
        guard !isInOrder else { return touched }
        let items = kept.enumerated().map { order, entry in
            Stationary.Item(oldOrder: entry.position, newOrder: order, oldGap: (0, 0), newGap: (0, 0))
        }
        let staying = Stationary.staying(items)
        for (order, entry) in kept.enumerated() where !staying[order] { touched.insert(entry.row) }
        return touched
    }

    private static func forEachRow(of contents: ListContents, _ body: (RowToken, Int, UInt32) -> Void) {
        var position = 0
        for section in contents.allSections {
            for row in contents.rows.elements(in: position..<position + section.weight) {
                body(row, position, section.number)
                position += 1
            }
        }
    }
}
