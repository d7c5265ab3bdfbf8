import Foundation
import Synchronization

/// What the numbers of object IDs stand for in a store that knows its rows by reference objects of any kind.
///
/// What a reference is within its hierarchy of entities is its text, as it stands in URIs: references of equal texts name the
/// same row, whichever type they have. A whole number from 1 on is the number of its IDs itself, and takes no place here; other
/// references get numbers from ``firstAssigned`` on, in the order in which they are met.
///
/// One for each store UUID of the process, so that IDs of one row are equal whichever coordinator made them. Safe on any
/// thread. None of a program's code runs under the table's lock: callers give texts, and what is replaced is released behind it.
final class ReferenceTable: Sendable {
    /// The smallest number that is no reference itself. Lists pack numbers of 48 bits.
    static let firstAssigned = Int64(1) << 46

    /// A reference as the store gave it last, or as it was read from a URI.
    private struct Entry {
        let text: ReferenceText
        var value: Any
    }

    /// The references of one hierarchy of entities.
    // SAFETY: only reached through the mutex of its table; references that users give are not changed.
    private struct Space: @unchecked Sendable {
        /// The numbers that were assigned.
        var numbers: [ReferenceText: Int64] = [:]
        /// What is no number that stands for itself.
        var entries: [Int64: Entry] = [:]
        /// Numbers that stand for themselves elsewhere, and here were told to be those of reserved ones.
        var redirections: [Int64: Int64] = [:]
        var reserved: Set<Int64> = []
        var next = firstAssigned

        mutating func assign() -> Int64 {
            defer { next += 1 }
            return next
        }

        /// Takes a value in, and gives the one that was in its place.
        mutating func put(_ number: Int64, _ text: ReferenceText, _ value: Any) -> Any? {
            entries.updateValue(Entry(text: text, value: value), forKey: number)?.value
        }

        /// The number of a row that a whole number names, whose text or other form is forgotten.
        mutating func number(forOwn number: Int64) -> (Int64, replaced: Any?) {
            if let redirected = redirections[number] { return (redirected, nil) }
            return (number, entries.isEmpty ? nil : entries.removeValue(forKey: number)?.value)
        }

        mutating func number(of text: ReferenceText, _ value: Any, isGiven: Bool) -> (Int64, replaced: Any?) {
            if let known = numbers[text] ?? text.ownNumber {
                guard isGiven || entries[known] == nil else { return (known, nil) }
                return (known, put(known, text, value))
            }
            let number = assign()
            numbers[text] = number
            return (number, put(number, text, value))
        }
    }

    private let spaces = Mutex<[String: Space]>([:])

    // SAFETY: only reached through the mutex of `tables`; the table itself is sendable.
    private struct WeakTable: @unchecked Sendable {
        weak var table: ReferenceTable?
    }
    private static let tables = Mutex<[String: WeakTable]>([:])

    /// The table of the store with that UUID.
    static func shared(ofStore identifier: String) -> ReferenceTable {
        // Tables that are held here only go away behind the lock, as the references in them may be of a program's types.
        let (table, _) = tables.withLock { tables -> (ReferenceTable, [ReferenceTable]) in
            let living = tables.values.compactMap(\.table)
            if let known = tables[identifier]?.table { return (known, living) }
            let made = ReferenceTable()
            tables = tables.filter { $0.value.table != nil }
            tables[identifier] = WeakTable(table: made)
            return (made, living)
        }
        return table
    }

    // MARK: Numbers

    /// The number of a row that is named by a whole number.
    ///
    /// - Parameter number: at least 1, and below ``firstAssigned``.
    func number(forOwn number: Int64, root: String) -> Int64 {
        let (number, replaced) = spaces.withLock { spaces -> (Int64, UncheckedSendable<Any?>) in
            let (number, replaced) = spaces[root]?.number(forOwn: number) ?? (number, nil)
            return (number, UncheckedSendable(replaced))
        }
        withExtendedLifetime(replaced) {}
        return number
    }

    /// The number of a row that is named by a reference with that text.
    ///
    /// - Parameter isGiven: whether the store gave the value; else it was read from a URI, and is kept where there is none.
    func number(for value: Any, _ text: ReferenceText, root: String, isGiven: Bool) -> Int64 {
        let value = UncheckedSendable(value)
        let (number, replaced) = spaces.withLock { spaces -> (Int64, UncheckedSendable<Any?>) in
            let (number, replaced) = spaces[root, default: Space()].number(of: text, value.value, isGiven: isGiven)
            return (number, UncheckedSendable(replaced))
        }
        withExtendedLifetime(replaced) {}
        return number
    }

    /// The number of a row that is known by a reference with that text; `nil` where none is.
    func knownNumber(of text: ReferenceText, root: String) -> Int64? {
        spaces.withLock { spaces in
            guard let space = spaces[root] else { return nil }
            return space.numbers[text] ?? text.ownNumber.flatMap { space.entries[$0] == nil ? nil : $0 }
        }
    }

    // MARK: Numbers before their references

    /// A number whose reference is told later.
    func reserve(root: String) -> Int64 {
        spaces.withLock { spaces in
            let number = spaces[root, default: Space()].assign()
            spaces[root]?.reserved.insert(number)
            return number
        }
    }

    /// Whether what a number stands for is still to be told.
    func isReserved(_ number: Int64, root: String) -> Bool {
        number >= Self.firstAssigned && spaces.withLock { $0[root]?.reserved.contains(number) ?? false }
    }

    /// Tells what a reserved number stands for.
    func bind(_ number: Int64, to value: Any, _ text: ReferenceText, root: String) {
        let value = UncheckedSendable(value)
        let replaced = spaces.withLock { spaces -> UncheckedSendable<Any?> in
            spaces[root, default: Space()].reserved.remove(number)
            spaces[root]?.numbers[text] = number
            if let own = text.ownNumber { spaces[root]?.redirections[own] = number }
            return UncheckedSendable(spaces[root]?.put(number, text, value.value))
        }
        withExtendedLifetime(replaced) {}
    }

    // MARK: References

    /// What a number stands for: the number itself, where nothing else was told.
    func reference(of number: Int64, root: String) -> Any {
        let told = spaces.withLock { UncheckedSendable($0[root]?.entries[number]?.value) }.value
        return told ?? NSNumber(value: number)
    }

    /// The text of a reference as it stands in a URI; `nil` where it is the number.
    func text(of number: Int64, root: String) -> String? {
        string(of: number, root: root)?.addingPercentEncoding(withAllowedCharacters: Self.unescaped)
    }

    /// The same without escapes.
    func string(of number: Int64, root: String) -> String? {
        guard number >= Self.firstAssigned else { return nil }
        return spaces.withLock { $0[root]?.entries[number]?.text.string }
    }

    private static let unescaped = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))
}

/// The text of a reference, by which it is compared: byte by byte, so that what is printed apart is two.
struct ReferenceText: Hashable, Sendable {
    let string: String

    init(_ string: String) { self.string = string }

    static func == (left: ReferenceText, right: ReferenceText) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    // SAFETY: the bytes are read during the closure only.
    func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The number whose text it is, where that stands for itself in a ``ReferenceTable``.
    var ownNumber: Int64? {
        let bytes = string.utf8
        guard let first = bytes.first, first > UInt8(ascii: "0"), first <= UInt8(ascii: "9"), bytes.count < 16,
            let number = Int64(string), number < ReferenceTable.firstAssigned
        else { return nil }
        return number
    }

    /// The number that a reference is, if it is a whole one of 64 bits.
    static func wholeNumber(_ reference: Any) -> Int64? {
        if let number = reference as? Int { return Int64(number) }
        if reference is String { return nil }
        guard let number = reference as? NSNumber else { return nil }
        let whole = number.int64Value
        return number == NSNumber(value: whole) ? whole : nil
    }

    /// How a reference is printed where its store says nothing else.
    static func usual(_ reference: Any) -> String {
        switch reference {
        case let text as String: text
        case let id as UUID: id.uuidString
        case let data as Data: data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case let url as URL: url.absoluteString
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        default: "\(reference)"
        }
    }
}
