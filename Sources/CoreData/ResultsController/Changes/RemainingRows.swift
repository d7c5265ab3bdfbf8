/// The rest of a list after rows were removed, for the search for insertion positions.
protocol RemainingRows {
    var sectionCount: Int { get }

    /// The index of a section and the positions of its rows in the whole list; `nil` if it does not exist.
    func section(numbered number: UInt32) -> (index: Int, rows: Range<Int>)?

    /// The position of the first row of the section at `index`.
    func start(ofSectionAt index: Int) -> Int

    /// The number of the section at `index`.
    func sectionNumber(at index: Int) -> UInt32

    func row(at position: Int) -> RowToken

    /// The position of a row; `nil` if it is not in the list, or its position cannot be found quickly.
    func quickPosition(of row: RowToken) -> Int?
}

extension ListContents: RemainingRows {
    func quickPosition(of row: RowToken) -> Int? { rows.position(of: row.code) }

    func section(numbered number: UInt32) -> (index: Int, rows: Range<Int>)? {
        index(ofSection: number).map { ($0, range(ofSection: number)) }
    }

    func start(ofSectionAt index: Int) -> Int { sections.weight(before: index) }

    func sectionNumber(at index: Int) -> UInt32 { sections[index].number }

    func row(at position: Int) -> RowToken { rows[position] }
}

/// A list as plain arrays: made in O(n), and quicker than a tree for a caller that reads a large part of it.
struct FlatList: RemainingRows {
    let isSectioned: Bool
    let keptSections: UInt32
    private(set) var rows: [RowToken] = []
    private(set) var sections: [SectionEntry] = []
    /// The position of the first row of each section, and the end of the last.
    private var starts: [Int] = [0]
    /// The index of each section by its number; -1 if it does not exist.
    private var indices: [Int32] = []

    /// The rows of `old` without `removed`, which names each row once.
    init(_ old: ListContents, without removed: [RowToken]) {
        isSectioned = old.isSectioned
        keptSections = old.keptSections
        let leaving = old.positions(of: removed).map(\.position)
        copyRows(of: old, without: leaving)
        copySections(of: old, without: leaving)
        indices = Array(repeating: -1, count: (sections.map { Int($0.number) }.max() ?? -1) + 1)
        for (index, section) in sections.enumerated() { indices[Int(section.number)] = Int32(index) }
    }

    private mutating func copyRows(of old: ListContents, without leaving: [Int]) {
        let all = old.rows.elements(in: 0..<old.rowCount)
        rows.reserveCapacity(all.count - leaving.count)
        var next = 0
        for position in leaving {
            rows.append(contentsOf: all[next..<position])
            next = position + 1
        }
        rows.append(contentsOf: all[next...])
    }

    private mutating func copySections(of old: ListContents, without leaving: [Int]) {
        var end = 0
        var gone = 0
        for var section in old.allSections {
            end += section.weight
            while gone < leaving.count, leaving[gone] < end {
                gone += 1
                section.rowCount -= 1
            }
            guard section.rowCount > 0 || !isSectioned || section.number < keptSections else { continue }
            sections.append(section)
            starts.append(end - gone)
        }
    }

    var sectionCount: Int { sections.count }

    func section(numbered number: UInt32) -> (index: Int, rows: Range<Int>)? {
        guard number < indices.count, indices[Int(number)] >= 0 else { return nil }
        let index = Int(indices[Int(number)])
        return (index, starts[index]..<starts[index + 1])
    }

    func start(ofSectionAt index: Int) -> Int { starts[index] }

    func sectionNumber(at index: Int) -> UInt32 { sections[index].number }

    func row(at position: Int) -> RowToken { rows[position] }

    func quickPosition(of row: RowToken) -> Int? { nil }
}
