@testable import CoreData

/// A list whose rows have a section and a sort key and change at random. The edit and the batch are checked after each
/// step.
struct RandomWorld {
    private struct Values {
        var section: UInt32
        var key: Int
    }

    var checksMinimality = false
    private var random: SeededGenerator
    private var values: [UInt64: Values] = [:]
    private var contents: ListContents
    private var model: ListModel
    private var steps = 0
    private var nextRow: UInt64 = 1
    private let sectionCount: UInt32
    private let isSectioned: Bool
    /// The position of each section. Changes sometimes, like a section's sort value.
    private var sectionOrder: [UInt32: Int] = [:]

    init(seed: UInt64, rows: Int, sections: Int, isSectioned: Bool = true) {
        random = SeededGenerator(seed: seed)
        sectionCount = UInt32(sections)
        self.isSectioned = isSectioned
        contents = ListContents(isSectioned: isSectioned)
        model = ListModel([])
        for section in 0..<sectionCount { sectionOrder[section] = Int(section) }
        for _ in 0..<rows { values[takeRow()] = randomValues() }
        model = expected
        contents = model.contents
    }

    private mutating func takeRow() -> UInt64 {
        defer { nextRow += 1 }
        return nextRow
    }

    private mutating func randomValues() -> Values {
        Values(
            section: isSectioned ? UInt32.random(in: 0..<sectionCount, using: &random) : 0,
            key: Int.random(in: 0..<12, using: &random))
    }

    /// The order of the list: section, key, and the row's number.
    private func isBefore(_ left: UInt64, _ right: UInt64) -> Bool {
        guard let a = values[left], let b = values[right] else { return false }
        if a.section != b.section { return (sectionOrder[a.section] ?? 0) < (sectionOrder[b.section] ?? 0) }
        return (a.key, left) < (b.key, right)
    }

    private var expected: ListModel {
        var model = ListModel([], isSectioned: isSectioned)
        if !isSectioned { model.sections = [.init(number: 0, rows: [])] }
        let rows = values.map { (row: $0, section: $1.section, order: sectionOrder[$1.section] ?? 0, key: $1.key) }
        for (row, section, _, _) in rows.sorted(by: { ($0.order, $0.key, $0.row) < ($1.order, $1.key, $1.row) }) {
            if model.sections.last?.number != section { model.sections.append(.init(number: section, rows: [])) }
            model.sections[model.sections.count - 1].rows.append(row)
        }
        return model
    }

    /// Changes up to `changes` rows, updates the contents, and returns a description of an error, or `nil`.
    mutating func step(changes: Int) -> String? {
        var deleted: Set<UInt64> = []
        var changed: Set<UInt64> = []
        var inserted: Set<UInt64> = []
        let existing = values.keys.sorted()
        for _ in 0..<changes {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<2:
                if let row = existing.randomElement(using: &random), !changed.contains(row) { deleted.insert(row) }
            case 2..<4: inserted.insert(takeRow())
            default: if let row = existing.randomElement(using: &random), !deleted.contains(row) { changed.insert(row) }
            }
        }
        if !checksMinimality && isSectioned && Int.random(in: 0..<40, using: &random) == 0 {
            reorderSections(changed: &changed, deleted: deleted)
        }
        for row in deleted { values[row] = nil }
        for row in inserted.sorted() { values[row] = randomValues() }
        for row in changed.sorted() {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: values[row] = randomValues()
            case 1: values[row]?.key = Int.random(in: 0..<12, using: &random)
            default: break
            }
        }
        return check(deleted: deleted, changed: changed, inserted: inserted)
    }

    /// Swaps two sections. All of their rows then count as changed.
    private mutating func reorderSections(changed: inout Set<UInt64>, deleted: Set<UInt64>) {
        let first = UInt32.random(in: 0..<sectionCount, using: &random)
        let second = UInt32.random(in: 0..<sectionCount, using: &random)
        (sectionOrder[first], sectionOrder[second]) = (sectionOrder[second], sectionOrder[first])
        for (row, value) in values where !deleted.contains(row) {
            if value.section == first || value.section == second { changed.insert(row) }
        }
    }

    private mutating func check(deleted: Set<UInt64>, changed: Set<UInt64>, inserted: Set<UInt64>) -> String? {
        let old = contents
        let oldModel = model
        steps += 1
        let arriving = changed.union(inserted).sorted(by: isBefore)
        var edit = RowPlacement(
            removed: deleted.union(changed).sorted().map(RowToken.init),
            arrivals: arriving.map { .init(row: RowToken(code: $0), section: values[$0]?.section ?? 0) })
        // Varies the steps of the search for positions and the rows that must not be compared.
        edit.fanout = 2 + steps % 8
        if steps % 3 == 0 { edit.isDoubtful = { $0.code % 2 == 0 } }
        contents = edit.applied(to: old) { probes in probes.map { isBefore($0.row.code, arriving[$0.arrival]) } }
        let newModel = ListModel(contents)
        let expected = expected
        if newModel != expected { return "the edit gives \(newModel), not \(expected)" }
        if steps % 16 == 0 {
            if ListModel(old) != oldModel { return "the old contents changed" }
            if let broken = contents.brokenInvariant() { return broken }
        }
        model = newModel
        let touched = deleted.union(changed).union(inserted)
        let batch = ChangeBatch(from: old, to: contents, touched: Set(touched.map(RowToken.init)))
        if oldModel.replaying(batch) != newModel {
            return "replaying \(batch.rowChanges) on \(oldModel) misses \(newModel)"
        }
        if Set(batch.rowChanges.map(\.row)).count != touched.count { return "not exactly one change a touched row" }
        if checksMinimality {
            let fewest = Self.fewestMoves(
                from: oldModel, to: newModel, deleted: deleted, changed: changed, inserted: inserted)
            let moves = batch.rowChanges.filter { $0.kind == .move }.count
            if moves != fewest { return "\(moves) moves instead of \(fewest): \(oldModel) → \(newModel)" }
        }
        return nil
    }

    /// The size of the smallest set of changed rows whose removal makes both lists equal.
    static func fewestMoves(
        from old: ListModel, to new: ListModel, deleted: Set<UInt64>, changed: Set<UInt64>, inserted: Set<UInt64>
    ) -> Int {
        func rest(_ model: ListModel, without rows: Set<UInt64>) -> [UInt32: [UInt64]] {
            var result: [UInt32: [UInt64]] = [:]
            for section in model.sections {
                let kept = section.rows.filter { !rows.contains($0) }
                if !kept.isEmpty { result[section.number] = kept }
            }
            return result
        }
        let candidates = changed.sorted()
        for size in 0...candidates.count {
            for mask in 0..<(1 << candidates.count) where mask.nonzeroBitCount == size {
                let moved = Set(candidates.indices.filter { mask & (1 << $0) != 0 }.map { candidates[$0] })
                if rest(old, without: moved.union(deleted)) == rest(new, without: moved.union(inserted)) { return size }
            }
        }
        return candidates.count
    }
}
