import TerminalKit

/// Rows that left a list a moment ago. They stay where they stood for a while, so that one sees what went.
///
/// Design note. A list shows its records, and between them the rows that fade. The controller knows nothing of the latter:
/// places on the screen and places in the controller differ by the fading rows above. Sections go with their last record,
/// and their fading rows with them.
struct FadingRows {
    struct Row {
        let texts: [String]
        /// When it goes; `nil` until it was shown.
        var end: ContinuousClock.Instant?
        /// The place in the section, as it is shown.
        var place: Int
    }

    static let duration = Duration.milliseconds(1500)
    /// Of a flood of deletions only so many fade.
    static let limit = 200

    /// By the section's name, in the order of their places.
    private(set) var sections: [String: [Row]] = [:]

    var isEmpty: Bool { sections.isEmpty }
    var count: Int { sections.values.reduce(0) { $0 + $1.count } }

    /// When the next one ends.
    var nextEnd: ContinuousClock.Instant? { sections.values.joined().compactMap(\.end).min() }

    /// Lets the rows fade from now on that were not shown before: what was not on the screen did not fade.
    mutating func noteShown(now: ContinuousClock.Instant) {
        for (name, rows) in sections where rows.contains(where: { $0.end == nil }) {
            sections[name] = rows.map { row in
                var row = row
                row.end = row.end ?? now + Self.duration
                return row
            }
        }
    }

    func count(in section: String) -> Int { sections[section]?.count ?? 0 }

    /// Adds a row that stood at a place of the list as it was shown.
    mutating func add(_ texts: [String], place: Int, in section: String) {
        guard count < Self.limit else { return }
        var rows = sections[section] ?? []
        let index = rows.firstIndex { $0.place >= place } ?? rows.count
        rows.insert(Row(texts: texts, end: nil, place: place), at: index)
        sections[section] = rows
    }

    /// Fits the places after the list changed: no two rows at one place, and none behind the end.
    ///
    /// - Parameter counts: how many records the sections have, by name; without a section its rows are gone.
    mutating func settle(counts: [String: Int]) {
        for (name, rows) in sections {
            guard let count = counts[name] else {
                sections[name] = nil
                continue
            }
            var settled: [Row] = []
            for var row in rows {
                row.place = min(max(row.place, (settled.last?.place ?? -1) + 1), count + settled.count)
                settled.append(row)
            }
            sections[name] = settled
        }
    }

    mutating func removeEnded(now: ContinuousClock.Instant) {
        for (name, rows) in sections {
            func hasEnded(_ row: Row) -> Bool { row.end.map { $0 <= now } ?? false }
            guard rows.contains(where: hasEnded) else { continue }
            var left: [Row] = []
            var gone = 0
            for var row in rows {
                if hasEnded(row) {
                    gone += 1
                } else {
                    row.place -= gone
                    left.append(row)
                }
            }
            sections[name] = left.isEmpty ? nil : left
        }
    }

    mutating func removeAll() { sections = [:] }

    /// The fading row at a place of the screen; `nil` where a record stands.
    func row(at place: Int, in section: String) -> Row? { sections[section]?.first { $0.place == place } }

    /// Where a record of the controller is shown.
    func place(ofRecord index: Int, in section: String) -> Int {
        var place = index
        for row in sections[section] ?? [] where row.place <= place { place += 1 }
        return place
    }

    /// Which record of the controller is shown at a place, or behind it where a row fades there.
    func record(at place: Int, in section: String) -> Int {
        place - (sections[section] ?? []).count { $0.place < place }
    }
}
