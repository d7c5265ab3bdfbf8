import Foundation

/// Collects the sections of rows that are given in order, and refuses sections that do not stand together.
struct SectionRun {
    private let names: SectionNames
    private(set) var entries: [SectionEntry] = []
    private var seen: Set<UInt32> = []
    private var last: (name: String, number: UInt32)?
    private var count = 0

    init(names: SectionNames) { self.names = names }

    /// Adds `rows` rows of the section named `name`.
    ///
    /// - Throws: 134060 if the section already ended.
    mutating func add(_ name: String, rows: Int = 1) throws {
        guard rows > 0 else { return }
        if let last, last.name == name {
            entries[entries.count - 1].rowCount += UInt32(rows)
        } else {
            let number = names.number(of: name)
            guard seen.insert(number).inserted else { throw Self.outOfOrder(at: count, name) }
            entries.append(SectionEntry(number: number, rowCount: UInt32(rows)))
            last = (name, number)
        }
        count += rows
    }

    private static func outOfOrder(at index: Int, _ name: String) -> NSError {
        CoreDataError.make(
            134060,
            "The objects of the section \"\(name)\" do not stand together: sort by the section's key first.",
            userInfo: [
                "reason":
                    "The fetched object at index \(index) has an out of order section name '\(name)'. Objects must be sorted by section name"
            ])
    }
}
