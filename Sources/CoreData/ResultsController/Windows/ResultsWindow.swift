/// The rows between an offset and a limit, and the part of the list around them that is needed to follow changes.
///
/// Design. The beginning of the whole list is kept, from its first row to a few after the limit. A row that moves after
/// the last kept one is dropped, because unknown rows may precede it; when too few are left, the beginning is fetched
/// again. So a window of n rows costs O(n) for a batch, whatever the length of the whole list. Sections are made of the
/// visible rows: the window is cut by the order of the request.
struct ResultsWindow {
    /// The list without sections and without the limit.
    let flat: ListDefinition
    private let offset: Int
    /// The number of rows that fill the window; `nil` without a limit.
    private let needed: Int?
    /// The number of rows that are fetched; `nil` without a limit.
    private let capacity: Int?
    /// The first rows of the list.
    private var prefix: ListContents
    /// True if the window contains all rows of the list.
    private var isComplete: Bool
    /// The sections of the visible rows.
    private var sections: [RowToken: UInt32] = [:]

    /// The number of rows to fetch for a window, so that some may be deleted: 0 for all of them.
    static func capacity(offset: Int, limit: Int) -> Int {
        guard limit > 0 else { return 0 }
        let end = offset.addingUpToMaximum(limit)
        let capacity = end.addingUpToMaximum(max(32, end / 4))
        return capacity == .max ? 0 : capacity
    }

    /// - Parameters:
    ///   - flat: the list that begins with `prefix`.
    ///   - offset: the number of rows to skip. 0 or more.
    ///   - limit: the number of rows to show; 0 for all.
    init(_ prefix: ListContents, of flat: ListDefinition, offset: Int, limit: Int) {
        self.flat = flat
        self.offset = offset
        let capacity = Self.capacity(offset: offset, limit: limit)
        self.capacity = capacity > 0 ? capacity : nil
        needed = capacity > 0 ? offset + limit : nil
        isComplete = capacity == 0 || prefix.rowCount < capacity
        self.prefix = prefix.beginning(self.capacity)
    }

    /// Replaces the beginning of the list after it was fetched again.
    mutating func refill(_ prefix: ListContents) {
        self.prefix = prefix.beginning(capacity)
        isComplete = capacity.map { prefix.rowCount < $0 } ?? true
        sections = [:]
    }

    /// Applies changes of the list.
    ///
    /// - Returns: the result of the edit; `nil` if too few rows are known, so that the beginning must be fetched.
    mutating func edit(
        _ touched: TouchedObjects, replacing: [RowToken], with follower: ListFollower
    ) throws -> ListFollower.Result? {
        var result = try follower.edit(prefix, touched, replacing: replacing.filter(prefix.contains))
        if !isComplete { result.contents.truncate(to: knownCount(of: result)) }
        prefix = result.contents
        if let capacity, prefix.rowCount > 2 * capacity {
            prefix.truncate(to: capacity)
            isComplete = false
        }
        for row in result.touched { sections[row] = nil }
        return isComplete || prefix.rowCount >= needed ?? 0 ? result : nil
    }

    /// The number of rows of a changed beginning that are the first rows of the list: those up to the last one that
    /// kept its place.
    private func knownCount(of result: ListFollower.Result) -> Int {
        let changed = result.touched.union(result.placed)
        var count = result.contents.rowCount
        while count > 0, changed.contains(result.contents.rows[count - 1]) { count -= 1 }
        return count
    }

    /// The visible rows, in their sections.
    ///
    /// - Parameters:
    ///   - shown: the list with its sections.
    ///   - isStrict: true if the objects of a section must be adjacent.
    /// - Throws: 134060 if they are not; the store's errors.
    mutating func visible(
        _ shown: ListDefinition, in context: NSManagedObjectContext, isStrict: Bool = false
    ) throws -> ListContents {
        let end = min(prefix.rowCount, needed ?? .max)
        let rows = prefix.rows.elements(in: min(offset, end)..<end)
        guard shown.isSectioned else {
            return ListContents(rows: SharedElements(rows), sections: [], isSectioned: false)
        }
        try readSections(of: rows, shown, context)
        let numbers = rows.map { sections[$0] ?? 0 }
        if shown.rule != nil { return ListContents(rows: SharedElements(rows), in: numbers, of: shown.names) }
        if isStrict {
            var run = SectionRun(names: shown.names)
            for number in numbers { try run.add(shown.names[number]) }
        }
        return ListContents(grouping: rows, by: numbers)
    }

    private mutating func readSections(
        of rows: [RowToken], _ shown: ListDefinition, _ context: NSManagedObjectContext
    ) throws {
        var known: [RowToken: UInt32] = [:]
        for row in rows { known[row] = sections[row] }
        let missing = rows.filter { known[$0] == nil }
        let objects = try context.fetchPipeline.objects(for: shown.identities.objectIDs(of: missing))
        for (row, object) in zip(missing, objects) { known[row] = shown.section(ofRow: object) }
        sections = known
    }
}

extension ListContents {
    /// Creates a list by a rule: rows in the order of the request, and for each the number of its section. O(n +
    /// sections).
    init(rows: SharedElements<RowToken>, in numbers: [UInt32], of names: SectionNames) {
        var counts = [UInt32](repeating: 0, count: max(Int(numbers.max() ?? 0) + 1, Int(names.keptCount)))
        for number in numbers { counts[Int(number)] += 1 }
        let used = counts.indices.filter { counts[$0] > 0 || $0 < Int(names.keptCount) }.map { UInt32($0) }
            .sorted(by: names.isBefore)
        let entries = used.map { SectionEntry(number: $0, rowCount: counts[Int($0)]) }
        var places = [Int](repeating: 0, count: counts.count)
        var start = 0
        for entry in entries {
            places[Int(entry.number)] = start
            start += entry.weight
        }
        var isInOrder = true
        var order = [Int](repeating: 0, count: numbers.count)
        for (row, number) in numbers.enumerated() {
            let place = places[Int(number)]
            places[Int(number)] += 1
            order[place] = row
            isInOrder = isInOrder && place == row
        }
        self.init(
            rows: isInOrder ? rows : SharedElements(order.map { rows.buffer[$0] }), sections: entries,
            isSectioned: true, keptSections: names.keptCount)
    }

    /// The first rows of a list without sections; all of them with `nil`. O(count) if there are more.
    func beginning(_ count: Int?) -> ListContents {
        guard let count, count < rowCount else { return self }
        return ListContents(
            rows: SharedElements(rows.elements(in: 0..<count)), sections: [], isSectioned: false)
    }

    /// Removes all rows of a list without sections from a position on.
    mutating func truncate(to count: Int) {
        guard count < rowCount else { return }
        for row in rows.elements(in: count..<rowCount) { remove(row) }
    }

    /// Creates a sectioned list of rows and the numbers of their sections: sections are in the order of their first
    /// rows.
    init(grouping rows: [RowToken], by numbers: [UInt32]) {
        var order: [UInt32] = []
        var members: [UInt32: [RowToken]] = [:]
        for (row, number) in zip(rows, numbers) {
            if members[number] == nil { order.append(number) }
            members[number, default: []].append(row)
        }
        self.init(
            rows: SharedElements(order.flatMap { members[$0] ?? [] }),
            sections: order.map { SectionEntry(number: $0, rowCount: UInt32(members[$0]?.count ?? 0)) },
            isSectioned: true)
    }
}
