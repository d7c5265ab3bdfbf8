/// The contents of a sectioned list at one moment: its rows, their order, and their sections.
///
/// A value: a copy costs a few references and does not change with the original, so a copy preserves the state before a
/// change. Rows and sections are only numbers here. All reads and single changes are O(log n).
///
/// A flat list has exactly one section, number 0, even if it is empty. In a sectioned list only kept sections, which
/// have the first numbers, can be empty.
struct ListContents {
    /// A row's place: the section's index and the row's index inside it.
    struct Path: Hashable, Comparable {
        var section: Int
        var row: Int

        static func < (left: Path, right: Path) -> Bool { (left.section, left.row) < (right.section, right.row) }
    }

    let isSectioned: Bool
    /// The number of kept sections: those with lower numbers always exist, first and in the order of their numbers.
    let keptSections: UInt32
    private(set) var rows: CountedTree<RowToken>
    private(set) var sections: CountedTree<SectionEntry>
    private var mayHaveEmptySections: Bool
    /// The initial sections, until they change: iterating over them takes one step for each.
    private var unchangedSections: SharedElements<SectionEntry>?
    /// The aggregates of the sections, if there are any.
    var aggregates: AggregateResults?

    /// An empty list.
    init(isSectioned: Bool, keptSections: UInt32 = 0) {
        self.isSectioned = isSectioned
        self.keptSections = keptSections
        mayHaveEmptySections = keptSections > 0
        rows = CountedTree()
        sections = CountedTree()
        if !isSectioned { sections.insert(SectionEntry(number: 0, rowCount: 0), at: 0) }
        for number in 0..<keptSections { sections.insert(SectionEntry(number: number, rowCount: 0), at: Int(number)) }
    }

    /// Creates a list of sorted rows. The block of rows is not copied: O(sections + n/256).
    ///
    /// - Parameter sections: the sections in order; their counts sum up to the number of rows. Ignored in a flat list.
    init(
        rows block: SharedElements<RowToken>, sections entries: [SectionEntry], isSectioned: Bool,
        keptSections: UInt32 = 0
    ) {
        self.isSectioned = isSectioned
        self.keptSections = keptSections
        mayHaveEmptySections = keptSections > 0
        rows = CountedTree(block, isUnit: true)
        let entries = SharedElements(isSectioned ? entries : [SectionEntry(number: 0, rowCount: UInt32(block.count))])
        sections = CountedTree(entries, isUnit: false)
        unchangedSections = entries
        precondition(sections.weight == rows.count, "the sections' counts do not sum up to the rows")
    }

    /// A copy that shares no lazily built state: it may be read on another thread.
    func detached() -> ListContents {
        var copy = self
        copy.rows.holder = CountedTree.IndexHolder()
        copy.sections.holder = CountedTree.IndexHolder()
        return copy
    }

    /// A copy with other section numbers. O(sections).
    func renumbered(_ number: (UInt32) -> UInt32) -> ListContents {
        var copy = self
        let entries = allSections.map { SectionEntry(number: number($0.number), rowCount: $0.rowCount) }
        let block = SharedElements(entries)
        copy.sections = CountedTree(block, isUnit: false)
        copy.unchangedSections = block
        copy.mayHaveEmptySections = entries.contains { $0.rowCount == 0 }
        copy.aggregates = aggregates?.renumbered(self, number)
        return copy
    }

    /// The sections without rows. O(1) if none can be empty.
    var emptySections: [(number: UInt32, index: Int)] {
        if !isSectioned { return rowCount == 0 ? [(section(at: 0).number, 0)] : [] }
        if !mayHaveEmptySections { return [] }
        return allSections.enumerated().filter { $1.rowCount == 0 }.map { ($1.number, $0) }
    }

    var rowCount: Int { rows.count }
    var sectionCount: Int { sections.count }

    // MARK: Sections

    /// The section at `index`.
    func section(at index: Int) -> SectionEntry { sections[index] }

    /// All sections, in order. O(sections).
    var allSections: [SectionEntry] { sections.elements(in: 0..<sections.count) }

    /// The index of the section with `number`, or `nil` if it does not exist.
    func index(ofSection number: UInt32) -> Int? { sections.position(of: UInt64(number)) }

    /// The number of rows of the section with `number`: 0 if it does not exist.
    func rowCount(ofSection number: UInt32) -> Int { sections.entry(of: UInt64(number))?.element.weight ?? 0 }

    /// The number of rows of the section with `number`; faster if the section is at `index`.
    func rowCount(ofSection number: UInt32, expectedAt index: Int) -> Int {
        if let unchangedSections, index < unchangedSections.count, unchangedSections.buffer[index].number == number {
            return unchangedSections.buffer[index].weight
        }
        if index < sections.count {
            let section = sections[index]
            if section.number == number { return section.weight }
        }
        return rowCount(ofSection: number)
    }

    /// The positions, in the whole list, of the rows of the section with `number`; empty if it does not exist.
    func range(ofSection number: UInt32) -> Range<Int> {
        guard let entry = sections.entry(of: UInt64(number)) else { return 0..<0 }
        return entry.weightBefore..<entry.weightBefore + entry.element.weight
    }

    // MARK: Rows

    /// The path of `row`, or `nil` if it is not in the list.
    func path(of row: RowToken) -> Path? { rows.position(of: row.code).map(path(at:)) }

    func contains(_ row: RowToken) -> Bool { rows.contains(row.code) }

    /// The path of the row at `position` of the whole list.
    func path(at position: Int) -> Path {
        let place = sections.locate(weight: position)
        return Path(section: place.position, row: place.remainder)
    }

    /// The position, in the whole list, of `path`; `nil` if the list has no such path.
    func position(of path: Path) -> Int? {
        guard path.section >= 0, path.section < sections.count, path.row >= 0 else { return nil }
        guard path.row < sections[path.section].weight else { return nil }
        return sections.weight(before: path.section) + path.row
    }

    /// The row at `path`, or `nil` if the list has no such path.
    func row(at path: Path) -> RowToken? { position(of: path).map { rows[$0] } }

    // MARK: Changing

    /// Removes `row`, and its section if it was the last row. Does nothing if the row is not in the list.
    mutating func remove(_ row: RowToken) {
        guard let position = rows.remove(row.code) else { return }
        unchangedSections = nil
        var section = sections.locate(weight: position).element
        section.rowCount -= 1
        if section.rowCount == 0 && isSectioned && section.number >= keptSections {
            sections.remove(section.code)
        } else {
            sections.replace(section)
        }
    }

    /// Adds a section with its first rows, before the section at `index`.
    mutating func insertSection(number: UInt32, rows added: [RowToken], at index: Int) {
        unchangedSections = nil
        let start = index < sections.count ? sections.weight(before: index) : rows.count
        for (offset, row) in added.enumerated() { rows.insert(row, at: start + offset) }
        sections.insert(SectionEntry(number: number, rowCount: UInt32(added.count)), at: index)
    }

    /// Inserts `row` before the row at `offset` of the section with `number`, which must exist.
    mutating func insert(_ row: RowToken, at offset: Int, inSection number: UInt32) {
        guard var entry = sections.entry(of: UInt64(number)) else {
            preconditionFailure("no section \(number) to put a row into")
        }
        unchangedSections = nil
        rows.insert(row, at: entry.weightBefore + offset)
        entry.element.rowCount += 1
        sections.replace(entry.element)
    }

    /// Checks the invariants, O(n), and returns the first violation, or `nil`. For tests.
    func brokenInvariant() -> String? {
        if let problem = rows.brokenInvariant() ?? sections.brokenInvariant() { return problem }
        if let unchangedSections, !unchangedSections.buffer.elementsEqual(allSections) {
            return "the sections changed and were said not to"
        }
        if sections.weight != rows.count { return "sections have \(sections.weight) rows, the list \(rows.count)" }
        if !isSectioned && sections.count != 1 { return "a flat list has \(sections.count) sections" }
        if isSectioned, let empty = allSections.first(where: { $0.rowCount == 0 && $0.number >= keptSections }) {
            return "section \(empty.number) is empty"
        }
        return nil
    }
}
