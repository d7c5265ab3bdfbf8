@testable import CoreData

/// A generator with the same numbers in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A list as plain arrays, for comparison with ``ListContents``.
struct ListModel: Equatable {
    struct Section: Equatable {
        var number: UInt32
        var rows: [UInt64]
    }

    var sections: [Section] = []
    var isSectioned = true

    init(_ sections: [Section], isSectioned: Bool = true) {
        self.sections = sections
        self.isSectioned = isSectioned
    }

    init(_ contents: ListContents) {
        isSectioned = contents.isSectioned
        var position = 0
        for entry in contents.allSections {
            let rows = contents.rows.elements(in: position..<position + entry.weight)
            sections.append(Section(number: entry.number, rows: rows.map(\.code)))
            position += entry.weight
        }
    }

    var contents: ListContents {
        ListContents(
            rows: SharedElements(sections.flatMap { $0.rows.map(RowToken.init) }),
            sections: sections.map { SectionEntry(number: $0.number, rowCount: UInt32($0.rows.count)) },
            isSectioned: isSectioned)
    }

    /// Applies a batch as a table view does: deletes by descending old path, section deletes, section inserts, inserts
    /// by ascending new path. Returns `nil` if a table view would refuse it.
    func replaying(_ batch: ChangeBatch) -> ListModel? {
        var result = self
        let leaving = batch.rowChanges.filter { $0.kind == .delete || $0.kind == .move }.compactMap(\.oldPath)
        for path in leaving.sorted().reversed() {
            guard path.section < result.sections.count, path.row < result.sections[path.section].rows.count else {
                return nil
            }
            result.sections[path.section].rows.remove(at: path.row)
        }
        for section in batch.deletedSections {
            guard section.index < result.sections.count, result.sections[section.index].rows.isEmpty else { return nil }
            guard result.sections.remove(at: section.index).number == section.number else { return nil }
        }
        for section in batch.insertedSections {
            guard section.index <= result.sections.count else { return nil }
            result.sections.insert(Section(number: section.number, rows: []), at: section.index)
        }
        let arriving = batch.rowChanges.filter { $0.kind == .insert || $0.kind == .move }
        for change in arriving {
            guard let path = change.newPath, path.section < result.sections.count else { return nil }
            guard path.row <= result.sections[path.section].rows.count else { return nil }
            result.sections[path.section].rows.insert(change.row.code, at: path.row)
        }
        return result
    }
}
