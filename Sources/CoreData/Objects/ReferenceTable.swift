import Foundation
import Synchronization

/// Maps the numbers in object IDs to the reference objects, of any type, by which a store identifies its rows.
///
/// A reference is identified by its hierarchy of entities and its text in URIs. References of equal text identify the
/// same row, even if their types differ. A whole number from 1 up is itself the number of its IDs and has no entry
/// here. Other references get numbers from ``firstAssigned`` up, in the order of first use.
///
/// There is one table per store UUID in the process, so that IDs of one row are equal across coordinators. Safe on any
/// thread. No user code runs under the table's lock: callers pass texts, and replaced values are released outside it.
final class ReferenceTable: Sendable {
    /// The smallest assigned number; references that are whole numbers are smaller. Lists pack numbers of 48 bits.
    static let firstAssigned = Int64(1) << 46

    /// A reference as the store last returned it, or as it was read from a URI.
    private struct Entry {
        let text: ReferenceText
        var value: Any
    }

    /// The references of one hierarchy of entities.
    // SAFETY: accessed only through the mutex of its table; references of users are not changed.
    private struct Space: @unchecked Sendable {
        var numbers: [ReferenceText: Int64] = [:]
        /// The references by number, except whole numbers that represent themselves.
        var entries: [Int64: Entry] = [:]
        /// Whole numbers that do not represent themselves because they were bound to reserved numbers.
        var redirections: [Int64: Int64] = [:]
        var reserved: Set<Int64> = []
        var next = firstAssigned

        mutating func assign() -> Int64 {
            defer { next += 1 }
            return next
        }

        /// Stores a value and returns the one it replaced.
        mutating func put(_ number: Int64, _ text: ReferenceText, _ value: Any) -> Any? {
            entries.updateValue(Entry(text: text, value: value), forKey: number)?.value
        }

        /// Returns the number of a row that a whole number identifies, and removes the stored text or other form of it.
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

    // SAFETY: accessed only through the mutex of `tables`; the table itself is sendable.
    private struct WeakTable: @unchecked Sendable {
        weak var table: ReferenceTable?
    }
    private static let tables = Mutex<[String: WeakTable]>([:])

    /// The table of the store with that UUID.
    static func shared(ofStore identifier: String) -> ReferenceTable {
        // Tables are released outside of the lock only, as their references may be of a user's types.
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

    /// Returns the number of a row that is identified by a whole number.
    ///
    /// - Parameter number: At least 1, and below ``firstAssigned``.
    func number(forOwn number: Int64, root: String) -> Int64 {
        let (number, replaced) = spaces.withLock { spaces -> (Int64, UncheckedSendable<Any?>) in
            let (number, replaced) = spaces[root]?.number(forOwn: number) ?? (number, nil)
            return (number, UncheckedSendable(replaced))
        }
        withExtendedLifetime(replaced) {}
        return number
    }

    /// Returns the number of a row that is identified by a reference with that text.
    ///
    /// - Parameter isGiven: True if the store returned the value. One from a URI is stored only if there is none yet.
    func number(for value: Any, _ text: ReferenceText, root: String, isGiven: Bool) -> Int64 {
        let value = UncheckedSendable(value)
        let (number, replaced) = spaces.withLock { spaces -> (Int64, UncheckedSendable<Any?>) in
            let (number, replaced) = spaces[root, default: Space()].number(of: text, value.value, isGiven: isGiven)
            return (number, UncheckedSendable(replaced))
        }
        withExtendedLifetime(replaced) {}
        return number
    }

    /// Returns the number of a row with a known reference of that text; `nil` if there is none.
    func knownNumber(of text: ReferenceText, root: String) -> Int64? {
        spaces.withLock { spaces in
            guard let space = spaces[root] else { return nil }
            return space.numbers[text] ?? text.ownNumber.flatMap { space.entries[$0] == nil ? nil : $0 }
        }
    }

    // MARK: Reserved numbers

    /// Returns a number whose reference is set later.
    func reserve(root: String) -> Int64 {
        spaces.withLock { spaces in
            let number = spaces[root, default: Space()].assign()
            spaces[root]?.reserved.insert(number)
            return number
        }
    }

    /// True if the reference of a number is still to be set.
    func isReserved(_ number: Int64, root: String) -> Bool {
        number >= Self.firstAssigned && spaces.withLock { $0[root]?.reserved.contains(number) ?? false }
    }

    /// Sets the reference of a reserved number.
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

    /// The reference of a number: the number itself, unless another one was set.
    func reference(of number: Int64, root: String) -> Any {
        let told = spaces.withLock { UncheckedSendable($0[root]?.entries[number]?.value) }.value
        return told ?? NSNumber(value: number)
    }

    /// The text of a reference as used in a URI; `nil` if it is the number itself.
    func text(of number: Int64, root: String) -> String? {
        string(of: number, root: root)?.addingPercentEncoding(withAllowedCharacters: Self.unescaped)
    }

    /// The text of a reference without percent escapes; `nil` if it is the number itself.
    func string(of number: Int64, root: String) -> String? {
        guard number >= Self.firstAssigned else { return nil }
        return spaces.withLock { $0[root]?.entries[number]?.text.string }
    }

    private static let unescaped = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))
}

/// The text of a reference. Compared byte by byte, so that differently printed references are different.
struct ReferenceText: Hashable, Sendable {
    let string: String

    init(_ string: String) { self.string = string }

    static func == (left: ReferenceText, right: ReferenceText) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    // SAFETY: the bytes are read only during the closure.
    func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The number with this text, if it needs no assigned number in a ``ReferenceTable``.
    var ownNumber: Int64? {
        let bytes = string.utf8
        guard let first = bytes.first, first > UInt8(ascii: "0"), first <= UInt8(ascii: "9"), bytes.count < 16,
            let number = Int64(string), number < ReferenceTable.firstAssigned
        else { return nil }
        return number
    }

    /// Returns the reference as a number, if it is a whole number of 64 bits.
    static func wholeNumber(_ reference: Any) -> Int64? {
        if let number = reference as? Int { return Int64(number) }
        if reference is String { return nil }
        guard let number = reference as? NSNumber else { return nil }
        let whole = number.int64Value
        return number == NSNumber(value: whole) ? whole : nil
    }

    /// The text of a reference whose store does not define one.
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
