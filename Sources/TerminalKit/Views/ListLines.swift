/// The mapping between the lines of a sectioned list and its headers and rows, if some sections are folded.
///
/// Uses a running total of the sections, built in one pass over their row counts and searched in O(log sections). Never
/// reads rows.
struct ListLines {
    let hasHeaders: Bool
    /// The first line of each section, followed by the number of lines.
    private(set) var starts: [Int] = [0]
    private(set) var rowCounts: [Int] = []
    private(set) var isFolded: [Bool] = []

    init(hasHeaders: Bool) { self.hasHeaders = hasHeaders }

    @MainActor init(source: any ListSource, hasHeaders: Bool, folded: Set<String>) {
        self.hasHeaders = hasHeaders
        let count = source.sectionCount
        rowCounts.reserveCapacity(count)
        starts.reserveCapacity(count + 1)
        for section in 0..<count {
            let rows = source.rowCount(inSection: section)
            let fold = hasHeaders && !folded.isEmpty && folded.contains(source.key(ofSection: section))
            rowCounts.append(rows)
            isFolded.append(fold)
            starts.append(starts[section] + (hasHeaders ? 1 : 0) + (fold ? 0 : rows))
        }
    }

    var count: Int { starts[starts.count - 1] }
    var sectionCount: Int { rowCounts.count }
    var rowCount: Int { rowCounts.reduce(0, +) }

    /// The section header or row in a line, which must exist.
    func position(atLine line: Int) -> ListPosition {
        var low = 0
        var high = rowCounts.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= line { low = middle } else { high = middle - 1 }
        }
        // A section without header and rows has no line and is never found: the next one has the same start.
        let offset = line - starts[low] - (hasHeaders ? 1 : 0)
        return offset < 0 ? .header(low) : .row(ListPath(section: low, row: offset))
    }

    /// The line of a position, or of its section's header if the section is folded.
    func line(of position: ListPosition) -> Int {
        switch position {
        case .header(let section): return starts[min(section, rowCounts.count)]
        case .row(let path):
            guard path.section < rowCounts.count else { return max(0, count - 1) }
            if isFolded[path.section] { return starts[path.section] }
            return starts[path.section] + (hasHeaders ? 1 : 0) + path.row
        }
    }

    /// True if a position exists and is not in a folded section.
    func shows(_ position: ListPosition) -> Bool {
        guard position.section < rowCounts.count else { return false }
        switch position {
        case .header: return hasHeaders
        case .row(let path): return !isFolded[path.section] && path.row < rowCounts[path.section]
        }
    }
}
