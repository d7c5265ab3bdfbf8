import Foundation

/// Collects the sections of sorted rows, and refuses sections whose rows are not adjacent.
struct SectionRun {
    private let names: SectionNames
    private(set) var entries: [SectionEntry] = []
    /// True for the sections that have had rows, by section number. The numbers begin with 0 and are all in use.
    private var seen: [Bool] = []
    private var last: (name: String, number: UInt32)?
    private var count = 0

    init(names: SectionNames) { self.names = names }

    /// Adds `rows` rows of the section named `name`.
    ///
    /// - Throws: 134060 if the section already ended.
    mutating func add(_ name: String, rows: Int = 1) throws {
        guard rows > 0 else { return }
        if let last, TextBytes.areEqual(last.name, name) {
            entries[entries.count - 1].rowCount += UInt32(rows)
        } else {
            let number = names.number(of: name)
            guard isNew(number) else { throw Self.outOfOrder(at: count, name) }
            entries.append(SectionEntry(number: number, rowCount: UInt32(rows)))
            last = (name, number)
        }
        count += rows
    }

    private mutating func isNew(_ number: UInt32) -> Bool {
        let number = Int(number)
        if number >= seen.count { seen += repeatElement(false, count: number + 1 - seen.count) }
        defer { seen[number] = true }
        return !seen[number]
    }

    private static func outOfOrder(at index: Int, _ name: String) -> NSError {
        CoreDataError.make(
            134060,
            "The objects of the section \"\(name)\" are not adjacent. Sort by the section's key first.",
            userInfo: [
                "reason":
                    "The fetched object at index \(index) has an out of order section name '\(name)'. Objects must be sorted by section name"
            ])
    }
}
