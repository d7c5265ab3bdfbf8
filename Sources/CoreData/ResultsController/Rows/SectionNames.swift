/// Numbers for sections: a section keeps its number for the lifetime of the list, even while it has no rows.
///
/// A section is identified by a text: its name, or with a rule the code of its identity. Texts are only added, so all
/// copies of the list's contents can share one table. Not thread safe; other threads can use ``table``.
final class SectionNames {
    /// The rule that makes sections from values; `nil` if they are identified by their names.
    let rule: SectionRule?
    private var keys: SectionKeys
    private var numbers: [ExactText: UInt32]?
    private var identities: [UInt32: SectionValue] = [:]
    private var memo = SectionMemo()
    /// Names copied from another list, by this list's section numbers.
    private var foreignNames: [UInt32: String] = [:]

    /// - Parameter keys: those of a list that was read from disk.
    init(_ keys: PackedTexts = PackedTexts(), rule: SectionRule? = nil) {
        self.keys = SectionKeys(keys)
        self.rule = rule
        if keys.isEmpty, let rule { for identity in rule.keptIdentities { _ = number(of: identity) } }
    }

    /// The number of sections that exist even if they are empty: they have the first numbers.
    var keptCount: UInt32 { UInt32(rule?.kept.count ?? 0) }

    /// The number of sections that have a number.
    var count: Int { keys.count }

    /// A copy of the current table, for any thread.
    var table: SectionTable { SectionTable(keys: keys, rule: rule, foreignNames: foreignNames) }

    /// The name of a section; `""` for the one section of a flat list.
    subscript(number: UInt32) -> String {
        if !foreignNames.isEmpty, let name = foreignNames[number] { return name }
        return rule.map { $0.name(of: identity(of: number)) } ?? key(of: number)
    }

    /// The number of the section with `key`, which comes from another list. If the name differs here, the section keeps
    /// `name`.
    func number(of key: String, foreignName name: String) -> UInt32 {
        if let known = knownNumber(of: key) { return known }
        let number = number(of: key)
        if self[number] != name { foreignNames[number] = name }
        return number
    }

    /// The value of the section with a number; `nil` if sections are identified by their names.
    func value(of number: UInt32) -> SectionValue? { rule?.value(of: identity(of: number)) }

    func key(of number: UInt32) -> String { Int(number) < keys.count ? keys[Int(number)] : "" }

    private func identity(of number: UInt32) -> SectionValue {
        if let known = identities[number] { return known }
        let made = SectionValue(code: key(of: number)[...]) ?? .missing
        identities[number] = made
        return made
    }

    /// True if a section precedes another one by the rule.
    func isBefore(_ left: UInt32, _ right: UInt32) -> Bool {
        guard left != right, let rule else { return false }
        if left < keptCount || right < keptCount { return left < right }
        return rule.isBefore(identity(of: left), identity(of: right))
    }

    // MARK: Numbers

    /// The number of the section with `key`; adds one if needed. The first call builds the table of numbers.
    func number(of key: String) -> UInt32 {
        if let known = knownNumber(of: key) { return known }
        let number = UInt32(keys.count)
        keys.append(key)
        numbers?[ExactText(key)] = number
        return number
    }

    /// Numbers new sections, in order. The names must be unique.
    func append(new texts: [String]) {
        for text in texts { keys.append(text) }
        numbers = nil
    }

    func number(of identity: SectionValue) -> UInt32 {
        let identity = rule?.normalized(identity) ?? identity
        let number = number(of: identity.code)
        identities[number] = identity
        if !foreignNames.isEmpty { foreignNames[number] = nil }
        return number
    }

    /// The number of the section of an object, by the rule.
    func number(of object: AnyObject) -> UInt32 { rule.map { number(of: $0.section(of: object)) } ?? 0 }

    /// The number of the section of a row by its values at the rule's paths.
    func number(of values: [SlotValue]) -> UInt32 {
        if let known = memo.number(of: values) { return known }
        guard let rule else { return 0 }
        let identity = rule.section(of: values)
        let number = number(of: identity)
        memo.note(values, identity, number)
        return number
    }

    /// Reserves capacity for `count` more names.
    func reserve(_ count: Int) {
        keys.reserve(count)
        if numbers == nil { numbers = Self.numbers(of: keys) }
        numbers?.reserveCapacity(keys.count + count)
    }

    private static func numbers(of keys: SectionKeys) -> [ExactText: UInt32] {
        Dictionary(keys.all.enumerated().map { (ExactText($1), UInt32($0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of the section with `key`, or `nil` if it has none.
    func knownNumber(of key: String) -> UInt32? {
        if let numbers { return numbers[ExactText(key)] }
        let made = Self.numbers(of: keys)
        numbers = made
        return made[ExactText(key)]
    }

    /// The numbers of the sections of `contents` by name; of several with one name, the first. O(sections).
    func numbersByName(in contents: ListContents) -> [ExactText: UInt32] {
        Dictionary(
            contents.allSections.map { (ExactText(self[$0.number]), $0.number) },
            uniquingKeysWith: { first, _ in first })
    }
}

/// The names and values of sections by number, at one moment: a value for any thread.
struct SectionTable: Sendable {
    let keys: SectionKeys
    let rule: SectionRule?
    let foreignNames: [UInt32: String]

    func key(of number: UInt32) -> String { Int(number) < keys.count ? keys[Int(number)] : "" }

    private func identity(of number: UInt32) -> SectionValue {
        guard Int(number) < keys.count else { return .missing }
        return SectionValue(code: keys[Int(number)][...]) ?? .missing
    }

    func name(of number: UInt32) -> String {
        if let name = foreignNames[number] { return name }
        return rule.map { $0.name(of: identity(of: number)) } ?? (Int(number) < keys.count ? keys[Int(number)] : "")
    }

    func value(of number: UInt32) -> SectionValue? { rule?.value(of: identity(of: number)) }

    /// The names of the levels; `nil` if sections are identified by their names.
    func names(of number: UInt32) -> [String]? { rule?.names(of: identity(of: number)) }
}

/// The sections of recently used values, so that a million rows do not need a million calendar calculations.
private struct SectionMemo {
    private static let most = 1 << 16

    private var last: (values: [SlotValue], number: UInt32)?
    private var numbers: [[SlotValue]: UInt32] = [:]
    /// The known periods in order, by their start and their end.
    private var periods: [(start: Double, end: Double, number: UInt32)] = []

    mutating func number(of values: [SlotValue]) -> UInt32? {
        if let last, last.values == values { return last.number }
        if values.count == 1, case .real(let seconds) = values[0], !periods.isEmpty {
            let place = periods.partitioningIndex { $0.start > seconds } - 1
            if place >= 0, seconds < periods[place].end { return periods[place].number }
        }
        guard let number = numbers[values] else { return nil }
        last = (values, number)
        return number
    }

    mutating func note(_ values: [SlotValue], _ identity: SectionValue, _ number: UInt32) {
        last = (values, number)
        if values.count == 1, case .period(let period) = identity {
            let start = period.start.timeIntervalSinceReferenceDate
            let place = periods.partitioningIndex { $0.start >= start }
            if place == periods.count || periods[place].start != start {
                periods.insert((start, period.end.timeIntervalSinceReferenceDate, number), at: place)
            }
        } else if numbers.count < Self.most {
            numbers[values] = number
        }
    }
}
