/// The computation behind ``ChangeBatch``.
///
/// Design. Objects that nobody touched keep their order, so only touched ones may be reported, and whether a touched row
/// has to move shows in its gap: how many untouched rows of its section are before it, then and now. Rows of one gap are
/// settled by a longest ascending run (``Stationary``). Sections are treated the same way first: a section all of whose
/// rows were touched may end up at another place among the sections, and as sections cannot move, it goes and comes, and
/// its rows move. The identity of sections is compared, never their index, so a row that keeps its path because a section
/// came before its new one still moves.
struct BatchBuilder {
    typealias Path = ListContents.Path

    let old: ListContents
    let new: ListContents

    private(set) var deletedSections: [ChangeBatch.SectionChange] = []
    private(set) var insertedSections: [ChangeBatch.SectionChange] = []
    private(set) var rowChanges: [ChangeBatch.RowChange] = []

    /// Where a touched row is in one of the states.
    private struct Place {
        let path: Path
        let section: UInt32
        /// How many untouched rows of its section are before it.
        var gap = 0
        /// Its position among the touched rows.
        var order = 0
    }

    private struct Row {
        let token: RowToken
        var old: Place?
        var new: Place?
    }

    init(old: ListContents, new: ListContents, touched: some Sequence<RowToken>, replaced: Set<RowToken>) {
        self.old = old
        self.new = new
        var seen: Set<RowToken> = []
        var rows = touched.filter { seen.insert($0).inserted }.map(located)
        let announced = rows.count
        rows += replaced.subtracting(seen).map(located)
        measureGaps(&rows)
        let recreated = compareSections(rows)
        if rows.count > announced {
            // A replaced row that can stay where it is counts as untouched from here on.
            let settled = staying(announced..<rows.count, of: rows, recreated: recreated)
            rows = rows.indices.filter { !settled.contains($0) }.map { rows[$0] }
            measureGaps(&rows)
        }
        describe(rows, staying: staying(rows.indices, of: rows, recreated: recreated))
    }

    private func located(_ token: RowToken) -> Row {
        func place(in contents: ListContents) -> Place? {
            contents.path(of: token).map { Place(path: $0, section: contents.section(at: $0.section).number) }
        }
        return Row(token: token, old: place(in: old), new: place(in: new))
    }

    /// Numbers the rows by their old and new paths, and counts the untouched rows of their section before them.
    private func measureGaps(_ rows: inout [Row]) {
        for (number, entry) in Self.measured(rows.map { $0.old?.path }) {
            rows[number].old?.gap = entry.gap
            rows[number].old?.order = entry.order
        }
        for (number, entry) in Self.measured(rows.map { $0.new?.path }) {
            rows[number].new?.gap = entry.gap
            rows[number].new?.order = entry.order
        }
    }

    private static func measured(_ paths: [Path?]) -> [(number: Int, (gap: Int, order: Int))] {
        var present: [(path: Path, number: Int)] = []
        for (number, path) in paths.enumerated() { if let path { present.append((path, number)) } }
        present.sort { $0.path < $1.path }
        var section = -1
        var before = 0
        return present.enumerated().map { order, entry in
            if entry.path.section != section { before = 0 }
            section = entry.path.section
            defer { before += 1 }
            return (entry.number, (entry.path.row - before, order))
        }
    }

    /// The numbers of the rows among `candidates` that can stay where they are.
    private func staying(_ candidates: Range<Int>, of rows: [Row], recreated: Set<UInt32>) -> Set<Int> {
        var numbers: [Int] = []
        var items: [Stationary.Item] = []
        for number in candidates {
            guard let old = rows[number].old, let new = rows[number].new, !recreated.contains(old.section) else {
                continue
            }
            numbers.append(number)
            items.append(
                .init(
                    oldOrder: old.order, newOrder: new.order, oldGap: (old.section, old.gap),
                    newGap: (new.section, new.gap)))
        }
        return Set(Stationary.staying(items).map { numbers[$0] })
    }

    private mutating func describe(_ rows: [Row], staying: Set<Int>) {
        var deletes: [ChangeBatch.RowChange] = []
        var arrivals: [(path: Path, change: ChangeBatch.RowChange)] = []
        var updates: [(path: Path, change: ChangeBatch.RowChange)] = []
        for (number, row) in rows.enumerated() {
            func change(_ kind: ChangeBatch.Kind) -> ChangeBatch.RowChange {
                .init(kind: kind, row: row.token, oldPath: row.old?.path, newPath: row.new?.path)
            }
            switch (row.old?.path, row.new?.path) {
            case (nil, nil): break
            case (nil, let new?): arrivals.append((new, change(.insert)))
            case (_?, nil): deletes.append(change(.delete))
            case (let old?, let new?):
                if staying.contains(number) {
                    updates.append((old, change(.update)))
                } else {
                    arrivals.append((new, change(.move)))
                }
            }
        }
        deletes.sort { left, right in
            guard let a = left.oldPath, let b = right.oldPath else { return false }
            return a > b
        }
        arrivals.sort { $0.path < $1.path }
        updates.sort { $0.path < $1.path }
        rowChanges = deletes + arrivals.map(\.change) + updates.map(\.change)
    }

    // MARK: Sections

    /// A section of both states without an untouched row: it may be at another place among the sections.
    private struct FloatingSection {
        let number: UInt32
        let oldIndex: Int
        let newIndex: Int
    }

    /// Finds the sections that come and go. Returns those that do both: their rows cannot stay in them.
    private mutating func compareSections(_ rows: [Row]) -> Set<UInt32> {
        var touchedRows: [UInt32: Int] = [:]
        var newSections: Set<UInt32> = []
        for row in rows {
            if let place = row.old { touchedRows[place.section, default: 0] += 1 }
            if let place = row.new { newSections.insert(place.section) }
        }
        var gone: [ChangeBatch.SectionChange] = []
        var come: [ChangeBatch.SectionChange] = []
        var floating: [FloatingSection] = []
        for (number, count) in touchedRows {
            guard let oldIndex = old.index(ofSection: number) else { continue }
            guard let newIndex = new.index(ofSection: number) else {
                gone.append(.init(index: oldIndex, number: number))
                continue
            }
            if old.section(at: oldIndex).weight == count {
                floating.append(.init(number: number, oldIndex: oldIndex, newIndex: newIndex))
            }
        }
        for number in newSections where old.index(ofSection: number) == nil {
            if let index = new.index(ofSection: number) { come.append(.init(index: index, number: number)) }
        }
        let recreated = recreated(floating, gone: gone.map(\.index), come: come.map(\.index))
        for section in floating where recreated.contains(section.number) {
            gone.append(.init(index: section.oldIndex, number: section.number))
            come.append(.init(index: section.newIndex, number: section.number))
        }
        deletedSections = gone.sorted { $0.index > $1.index }
        insertedSections = come.sorted { $0.index < $1.index }
        return recreated
    }

    /// Of the sections without an untouched row, those that do not keep their place among the others.
    private func recreated(_ floating: [FloatingSection], gone: [Int], come: [Int]) -> Set<UInt32> {
        guard !floating.isEmpty, old.sectionCount > 1 || new.sectionCount > 1 else { return [] }
        let oldIndices = (floating.map(\.oldIndex) + gone).sorted()
        let newIndices = (floating.map(\.newIndex) + come).sorted()
        let items = floating.map { section in
            let oldOrder = Self.rank(of: section.oldIndex, in: oldIndices)
            let newOrder = Self.rank(of: section.newIndex, in: newIndices)
            return Stationary.Item(
                oldOrder: oldOrder, newOrder: newOrder, oldGap: (0, section.oldIndex - oldOrder),
                newGap: (0, section.newIndex - newOrder))
        }
        let staying = Stationary.staying(items)
        return Set(floating.indices.filter { !staying.contains($0) }.map { floating[$0].number })
    }

    private static func rank(of index: Int, in sorted: [Int]) -> Int { sorted.partitioningIndex { $0 >= index } }
}
