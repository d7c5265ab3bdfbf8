import Foundation

/// A ``SectionBy`` that was resolved for an entity: computes the section of an object, its name, and the order of
/// sections. A value; all cached state is in ``SectionNames``.
// SAFETY: immutable; closures in it are called on the context's queue, or if no other thread runs them.
struct SectionRule: @unchecked Sendable {
    let levels: [SectionLevel]
    private let by: SectionBy
    let kept: [SectionValue]

    /// - Throws: 134060 if a key path or the type of its attribute does not fit.
    init(_ by: SectionBy, of entity: NSEntityDescription) throws {
        self.by = by
        kept = by.keptValues
        levels = try by.levels.map { try SectionLevel($0, of: entity) }
    }

    /// The key paths of the values that determine the section: see ``section(of:)-(ArraySlice<SlotValue>)``.
    var paths: [[String]] { levels.flatMap(\.paths) }

    /// True if stores know all values that determine the section.
    var isStored: Bool { levels.allSatisfy(\.isStored) }

    /// True if sections are made of equal values.
    var isByValues: Bool { levels.allSatisfy(\.isByValue) }

    /// The properties that determine an object's place; `nil` if they are unknown.
    var placeKeys: Set<String>? { isStored ? Set(paths.compactMap(\.first)) : nil }

    /// A text that is equal for equivalent rules; `nil` if that cannot be determined.
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

    /// The section by the values that the store returned for the paths.
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

    /// The identity of a section, made of its parts: per level the value that orders it, if there is one, and the
    /// section's own value.
    private func combined(_ parts: [SectionValue]) -> SectionValue { parts.count == 1 ? parts[0] : .levels(parts) }

    private func parts(of identity: SectionValue) -> [SectionValue] {
        levels.count == 1 ? [identity] : identity.levels
    }

    /// The identity of a kept section.
    private func identity(kept value: SectionValue) -> SectionValue {
        let values = levels.count == 1 ? [value] : value.levels
        return combined(zip(levels, values).map { $0.hasOrder ? .levels([.missing, $1]) : $1 })
    }

    var keptIdentities: [SectionValue] { kept.map(identity(kept:)) }

    /// The identity of a kept section depends on its value alone.
    func normalized(_ identity: SectionValue) -> SectionValue {
        guard !kept.isEmpty, levels.contains(where: \.hasOrder) else { return identity }
        let value = value(of: identity)
        return kept.contains(value) ? self.identity(kept: value) : identity
    }

    // MARK: Values and names

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

    /// The name of a level, escaped for the name of the section. Called on every access to a section, so the common
    /// case is fast.
    private static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) else { return name }
        return name.replacing("\\", with: "\\\\").replacing("/", with: "\\/")
    }

    /// True if a section precedes another one. A total order: two different sections are never equal.
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
