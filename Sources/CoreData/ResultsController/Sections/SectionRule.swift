import Foundation

/// A ``SectionBy`` that was resolved for an entity: which section an object is in, what it is called, and how sections are
/// ordered. A value: everything that is remembered stands in ``SectionNames``.
// SAFETY: immutable; closures in it are called on the context's queue, or where no other thread runs them.
struct SectionRule: @unchecked Sendable {
    let levels: [SectionLevel]
    private let by: SectionBy
    let kept: [SectionValue]

    /// - Throws: 134060 where a key path or the type at its end does not fit.
    init(_ by: SectionBy, of entity: NSEntityDescription) throws {
        self.by = by
        kept = by.keptValues
        levels = try by.levels.map { try SectionLevel($0, of: entity) }
    }

    /// The key paths of the values that make the section: see ``section(of:)-(ArraySlice<SlotValue>)``.
    var paths: [[String]] { levels.flatMap(\.paths) }

    /// Whether stores know all that makes the section.
    var isStored: Bool { levels.allSatisfy(\.isStored) }

    /// Whether sections are what rows have the same values in.
    var isByValues: Bool { levels.allSatisfy(\.isByValue) }

    /// The properties that decide where an object is; `nil` if that cannot be told.
    var placeKeys: Set<String>? { isStored ? Set(paths.compactMap(\.first)) : nil }

    /// A text that is the same for rules that do the same; `nil` where that cannot be told.
    var fingerprint: String? {
        var parts: [String] = ["\(by.isAscending) \(by.placement)"]
        guard by.comparator == nil else { return nil }
        for level in levels {
            guard let part = level.fingerprint else { return nil }
            parts.append(part)
        }
        return (parts + kept.map(\.code)).joined(separator: ";")
    }

    // MARK: The section of an object

    /// By what the store says of the paths.
    ///
    /// - Parameter values: one for each of ``paths``.
    func section(of values: [SlotValue]) -> SectionValue {
        var place = 0
        return combined(
            levels.map { level in
                defer { place += level.paths.count }
                return level.identity(of: values[place..<place + level.paths.count])
            })
    }

    func section(of object: AnyObject) -> SectionValue { combined(levels.map { $0.identity(of: object) }) }

    /// The identity of a section, of its parts: per level the value that orders it, if there is one, and the section's own value.
    private func combined(_ parts: [SectionValue]) -> SectionValue { parts.count == 1 ? parts[0] : .levels(parts) }

    private func parts(of identity: SectionValue) -> [SectionValue] {
        levels.count == 1 ? [identity] : identity.levels
    }

    /// The identity of a section that is kept.
    private func identity(kept value: SectionValue) -> SectionValue {
        let values = levels.count == 1 ? [value] : value.levels
        return combined(zip(levels, values).map { $0.hasOrder ? .levels([.missing, $1]) : $1 })
    }

    var keptIdentities: [SectionValue] { kept.map(identity(kept:)) }

    /// Sections that are kept are known by their values alone.
    func normalized(_ identity: SectionValue) -> SectionValue {
        guard !kept.isEmpty, levels.contains(where: \.hasOrder) else { return identity }
        let value = value(of: identity)
        return kept.contains(value) ? self.identity(kept: value) : identity
    }

    // MARK: What a section is

    func value(of identity: SectionValue) -> SectionValue {
        combined(zip(levels, parts(of: identity)).map { $0.value(of: $1) })
    }

    /// The names of the levels.
    func names(of identity: SectionValue) -> [String] {
        zip(levels, parts(of: identity)).map { $0.name(of: $0.value(of: $1)) }
    }

    func name(of identity: SectionValue) -> String {
        let names = names(of: identity)
        if names.count == 1 { return names[0] }
        return names.map(Self.escaped).joined(separator: "/")
    }

    /// The name of a level as it stands in that of the section. Nearly all are as they are: each look at a section asks for it.
    private static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) else { return name }
        return name.replacing("\\", with: "\\\\").replacing("/", with: "\\/")
    }

    /// Whether a section comes before another one. Total: two sections are never the same in it.
    func isBefore(_ left: SectionValue, _ right: SectionValue) -> Bool {
        if left == right { return false }
        if by.comparator != nil, levels.count > 1 {
            let result = SectionLevel.compare(value(of: left), value(of: right), by)
            if result != .orderedSame { return result == .orderedAscending }
        }
        for (level, (left, right)) in zip(levels, zip(parts(of: left), parts(of: right))) {
            let result = level.compare(left, right)
            if result == .orderedSame { continue }
            let isTurned = levels.count > 1 && !by.isAscending
            return result == (isTurned ? .orderedDescending : .orderedAscending)
        }
        return SectionValue.compare(left, right) == .orderedAscending
    }
}
