import TerminalKit

/// Rows that were just removed from a list. They stay visible at their position for a moment.
///
/// Design note. A list shows its records with the fading rows between them. The controller does not know the fading
/// rows: positions on the screen and in the controller differ by the fading rows above. A section without records is
/// removed with its fading rows.
struct FadingRows {
    struct Row {
        let texts: [String]
        /// Time at which the row is removed; `nil` until it was shown.
        var end: ContinuousClock.Instant?
        /// The position in the section on the screen.
        var place: Int
    }

    static let duration = Duration.milliseconds(1500)
    /// Maximum number of fading rows after many deletions.
    static let limit = 200

    /// Rows by section name, in the order of their positions.
    private(set) var sections: [String: [Row]] = [:]

    var isEmpty: Bool { sections.isEmpty }
    var count: Int { sections.values.reduce(0) { $0 + $1.count } }

    /// Time at which the next row is removed.
    var nextEnd: ContinuousClock.Instant? { sections.values.joined().compactMap(\.end).min() }

    /// Starts the time of rows that were not on the screen before.
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

    /// Adds a row that was at a position of the list on the screen.
    mutating func add(_ texts: [String], place: Int, in section: String) {
        guard count < Self.limit else { return }
        var rows = sections[section] ?? []
        let index = rows.firstIndex { $0.place >= place } ?? rows.count
        rows.insert(Row(texts: texts, end: nil, place: place), at: index)
        sections[section] = rows
    }

    /// Adjusts positions after a change of the list: no two rows have the same one, and none is beyond the end.
    ///
    /// - Parameter counts: numbers of records by section name. Rows of other sections are removed.
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

    /// The fading row at a position on the screen; `nil` for a record.
    func row(at place: Int, in section: String) -> Row? { sections[section]?.first { $0.place == place } }

    /// The position on the screen of a record of the controller.
    func place(ofRecord index: Int, in section: String) -> Int {
        var place = index
        for row in sections[section] ?? [] where row.place <= place { place += 1 }
        return place
    }

    /// The controller's index of the record at a position on the screen, or of the next record if a row fades there.
    func record(at place: Int, in section: String) -> Int {
        place - (sections[section] ?? []).count { $0.place < place }
    }
}
