/// Computes a ``ChangeBatch``.
///
/// Design. Untouched rows keep their order, so only touched ones may be reported. A touched row has to move if its gap
/// differs: the number of untouched rows of its section before it, in the old and in the new state. Rows with the same
/// gap are settled by a longest ascending run (``Stationary``). Sections are handled the same way first: a section
/// whose rows were all touched may have another place among the sections. Sections cannot move, so it is deleted and
/// inserted, and its rows move. Sections are compared by identity, never by index, so a row that keeps its index path
/// because a section was inserted before its new one still moves.
struct BatchBuilder {
    let old: ListContents
    let new: ListContents

    private(set) var deletedSections: [ChangeBatch.SectionChange] = []
    private(set) var insertedSections: [ChangeBatch.SectionChange] = []
    private(set) var rowChanges: [ChangeBatch.RowChange] = []
    private(set) var reloaded: [RowToken] = []

    /// - Parameter others: rows that were placed again but are not touched.
    init(old: ListContents, new: ListContents, touched: [RowToken], others: [RowToken]) {
        self.old = old
        self.new = new
        var rows = TouchedRows(touched + others, old: old, new: new)
        let recreated = compareSections(rows)
        var isCompared = false
        if !others.isEmpty {
            // A replaced row that can stay in place counts as untouched from here on.
            let settled = staying(rows, from: touched.count, recreated: recreated)
            if settled.contains(true) {
                let left = rows.tokens.indices.filter { !settled[$0] }.map { rows.tokens[$0] }
                rows = TouchedRows(left, old: old, new: new)
            } else {
                isCompared = touched.isEmpty
            }
        }
        let staying =
            isCompared ? Array(repeating: false, count: rows.tokens.count) : staying(rows, recreated: recreated)
        describe(rows, staying: staying)
    }

    /// For each row from `start` on, true if it can stay in place.
    private func staying(_ rows: TouchedRows, from start: Int = 0, recreated: Set<UInt32>) -> [Bool] {
        var numbers: [Int] = []
        var items: [Stationary.Item] = []
        for number in rows.new.order where number >= start {
            guard let old = rows.old.places[number], let new = rows.new.places[number],
                recreated.isEmpty || !recreated.contains(old.section)
            else { continue }
            numbers.append(number)
            items.append(
                .init(
                    oldOrder: Int(old.order), newOrder: Int(new.order), oldGap: (old.section, Int(old.gap)),
                    newGap: (new.section, Int(new.gap))))
        }
        var staying = Array(repeating: false, count: rows.tokens.count)
        for (number, stays) in zip(numbers, Stationary.staying(items)) { staying[number] = stays }
        return staying
    }

    private mutating func describe(_ rows: TouchedRows, staying: [Bool]) {
        rowChanges.reserveCapacity(rows.tokens.count)
        func change(_ kind: ChangeBatch.Kind, _ number: Int) -> ChangeBatch.RowChange {
            .init(
                kind: kind, row: rows.tokens[number], oldPath: rows.old.places[number]?.path,
                newPath: rows.new.places[number]?.path)
        }
        for number in rows.old.order.reversed() where rows.new.places[number] == nil {
            rowChanges.append(change(.delete, number))
        }
        for number in rows.new.order where !staying[number] {
            let isMove = rows.old.places[number] != nil
            rowChanges.append(change(isMove ? .move : .insert, number))
            if isMove { reloaded.append(rows.tokens[number]) }
        }
        for number in rows.old.order where staying[number] {
            rowChanges.append(change(.update, number))
            reloaded.append(rows.tokens[number])
        }
    }

    // MARK: Sections

    /// A section without untouched rows that is in both states: it may have another place among the sections.
    private struct FloatingSection {
        let number: UInt32
        let oldIndex: Int
        let newIndex: Int
    }

    /// Finds the deleted and inserted sections. Returns those that are both: their rows cannot stay in them.
    private mutating func compareSections(_ rows: TouchedRows) -> Set<UInt32> {
        var gone: [ChangeBatch.SectionChange] = []
        var come: [ChangeBatch.SectionChange] = []
        var floating: [FloatingSection] = []
        // An untouched row keeps its section.
        for (number, oldIndex) in rows.old.wholeSections {
            if let newIndex = new.index(ofSection: number) {
                floating.append(.init(number: number, oldIndex: oldIndex, newIndex: newIndex))
            } else {
                gone.append(.init(index: oldIndex, number: number))
            }
        }
        for (number, index) in rows.new.wholeSections where old.index(ofSection: number) == nil {
            come.append(.init(index: index, number: number))
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

    /// The sections to report as deleted and inserted again: their place among the other sections changed, and they
    /// have no untouched row.
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
        return Set(zip(floating, Stationary.staying(items)).filter { !$1 }.map(\.0.number))
    }

    private static func rank(of index: Int, in sorted: [Int]) -> Int { sorted.partitioningIndex { $0 >= index } }
}
