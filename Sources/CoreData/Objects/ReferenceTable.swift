import Foundation
import Synchronization

/// What the numbers of object IDs stand for in a store that knows its rows by reference objects of any kind.
///
/// One for each store UUID of the process, so that IDs of one row are equal whichever coordinator made them. Safe on any
/// thread.
final class ReferenceTable: Sendable {
    /// The references of one hierarchy of entities.
    // SAFETY: only reached through the mutex of its table; references that users give are not changed.
    private struct Space: @unchecked Sendable {
        var numbers: [AnyHashable: Int64] = [:]
        var references: [Int64: Any] = [:]
        var texts: [String: Int64] = [:]
        var reserved: Set<Int64> = []
        var next: Int64 = 1

        mutating func fresh() -> Int64 {
            while references[next] != nil || reserved.contains(next) { next += 1 }
            defer { next += 1 }
            return next
        }

        mutating func bind(_ number: Int64, _ reference: Any) {
            reserved.remove(number)
            numbers[ReferenceTable.key(reference)] = number
            references[number] = reference
            texts["\(reference)"] = number
        }
    }

    private let spaces = Mutex<[String: Space]>([:])

    // SAFETY: only reached through the mutex of `tables`; the table itself is sendable.
    private struct Entry: @unchecked Sendable {
        weak var table: ReferenceTable?
    }
    private static let tables = Mutex<[String: Entry]>([:])

    /// The table of the store with that UUID.
    static func shared(ofStore identifier: String) -> ReferenceTable {
        tables.withLock { tables in
            if let known = tables[identifier]?.table { return known }
            let made = ReferenceTable()
            tables = tables.filter { $0.value.table != nil }
            tables[identifier] = Entry(table: made)
            return made
        }
    }

    private static func key(_ reference: Any) -> AnyHashable {
        (reference as? AnyHashable) ?? AnyHashable("\(reference)")
    }

    /// The number for a reference: its own, where it is a whole number that is free.
    func number(for reference: Any, root: String) -> Int64 {
        let wanted = Self.wholeNumber(reference)
        let reference = UncheckedSendable(reference)
        return spaces.withLock { spaces in
            let reference = reference.value
            if let known = spaces[root]?.numbers[Self.key(reference)] { return known }
            var space = spaces[root] ?? Space()
            var number = wanted ?? 0
            if number < 1 || space.references[number] != nil || space.reserved.contains(number) {
                number = space.fresh()
            }
            space.bind(number, reference)
            spaces[root] = space
            return number
        }
    }

    private static func wholeNumber(_ reference: Any) -> Int64? {
        guard let number = reference as? NSNumber, let value = Int64(exactly: number.doubleValue), value < 1 << 52
        else {
            return nil
        }
        return value
    }

    /// A number whose reference is told later.
    func reserve(root: String) -> Int64 {
        spaces.withLock { spaces in
            let number = spaces[root, default: Space()].fresh()
            spaces[root]?.reserved.insert(number)
            return number
        }
    }

    /// Tells what a reserved number stands for.
    func bind(_ number: Int64, to reference: Any, root: String) {
        let reference = UncheckedSendable(reference)
        spaces.withLock { $0[root, default: Space()].bind(number, reference.value) }
    }

    /// What a number stands for; `nil` where that was not told.
    func reference(of number: Int64, root: String) -> Any? {
        spaces.withLock { UncheckedSendable($0[root]?.references[number]) }.value
    }

    /// The text of a reference as it stands in a URI; `nil` where it was not told.
    func text(of number: Int64, root: String) -> String? {
        guard let reference = reference(of: number, root: root) else { return nil }
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove("/")
        return "\(reference)".addingPercentEncoding(withAllowedCharacters: allowed)
    }

    /// The number of the reference with that text, not escaped.
    func number(of text: String, root: String) -> Int64? { spaces.withLock { $0[root]?.texts[text] } }
}
