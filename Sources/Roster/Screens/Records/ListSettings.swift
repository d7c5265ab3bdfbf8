import CoreData
import Foundation
import RosterCommands

/// The user's settings for the list of an entity.
struct ListSettings {
    struct SortKey: Hashable {
        var keyPath: String
        var isAscending: Bool
    }

    var sectionKey: String?
    /// The kind of sections and the inner levels, in the syntax of the command line: `:month`, `:letter/kind`. `nil`
    /// for one section per value.
    var sectionForm: String?
    /// The direction of the sections.
    var sectionsAscend = true
    /// Sort keys within a section, without the section key.
    var sortKeys: [SortKey]
    /// The filter as typed; empty for all records.
    var filter = ""
    var folded: Set<String> = []
    /// The record under the cursor.
    var cursor: NSManagedObjectID?
    /// The key of the focused column.
    var focusedColumn: String?
    var columns = ColumnLayout()
    /// The configuration of the entity's columns and values.
    let preferences: EntityPreferences?

    /// The initial settings of an entity's list: sorted by label unless configured otherwise. Parts of the
    /// configuration that do not fit the entity are ignored.
    init(entity: NSEntityDescription, preferences: EntityPreferences? = nil) {
        self.preferences = preferences
        let display = EntityDisplay(entity: entity)
        let sortable = entity.attributesByName.values.filter(\.isSortable).sorted { $0.name < $1.name }
        let first = display.label ?? sortable.first { $0.attributeType != .booleanAttributeType } ?? sortable.first
        sortKeys = first.map { [SortKey(keyPath: $0.name, isAscending: true)] } ?? []
        guard let preferences else { return }
        let problems = Set(preferences.problems(for: entity).map(\.key))
        if let section = preferences.section, !problems.contains("section") { setSections(SectionChoice(section)) }
        if let sort = preferences.sort, !problems.contains("sort"), let keys = try? RosterCommands.SortKey.parse(sort) {
            setSortKeys(keys.map { SortKey(keyPath: $0.keyPath, isAscending: $0.ascending) })
        }
    }

    /// The sections in the syntax of the command line; `nil` for a list without sections.
    var sectionText: String? {
        sectionKey.map { SectionChoice(keyPath: $0, form: sectionForm, ascends: sectionsAscend).text }
    }

    /// The section key if records are sorted by it. `nil` without sections, and for derived values such as months, which
    /// have an order of their own.
    var sectionSortKey: String? { sectionForm == nil ? sectionKey : nil }

    /// All sort keys in order, with the section key first.
    var allSortKeys: [SortKey] {
        guard let sectionSortKey else { return sortKeys }
        return [SortKey(keyPath: sectionSortKey, isAscending: sectionsAscend)]
            + sortKeys.filter { $0.keyPath != sectionSortKey }
    }

    /// The sort descriptors, with the section key first. Empty for an entity without sortable attributes.
    var descriptors: [NSSortDescriptor] {
        allSortKeys.map { NSSortDescriptor(key: $0.keyPath, ascending: $0.isAscending) }
    }

    /// Sets the section key. Setting the current one reverses the direction.
    mutating func setSectionKey(_ keyPath: String?, form: String? = nil) {
        if let keyPath, keyPath == sectionKey, form == sectionForm {
            sectionsAscend.toggle()
        } else {
            (sectionKey, sectionForm) = (keyPath, form)
            sectionsAscend = true
        }
    }

    mutating func setSections(_ choice: SectionChoice) {
        if choice.keyPath != sectionKey || choice.form != sectionForm { folded = [] }
        (sectionKey, sectionForm, sectionsAscend) = (choice.keyPath, choice.form, choice.ascends)
    }

    /// Adds a sort key at the end, or reverses it if it is already used.
    mutating func addSortKey(_ keyPath: String) {
        if keyPath == sectionSortKey {
            sectionsAscend.toggle()
        } else if let index = sortKeys.firstIndex(where: { $0.keyPath == keyPath }) {
            sortKeys[index].isAscending.toggle()
        } else {
            sortKeys.append(SortKey(keyPath: keyPath, isAscending: true))
        }
    }

    /// Sorts by one key only, or reverses it if it is the only one. The section key reverses the sections.
    mutating func replaceSortKeys(with keyPath: String) {
        if keyPath == sectionSortKey { return sectionsAscend.toggle() }
        let isAscending = sortKeys.count == 1 && sortKeys[0].keyPath == keyPath ? !sortKeys[0].isAscending : true
        sortKeys = [SortKey(keyPath: keyPath, isAscending: isAscending)]
    }

    /// Sets the sort keys in order. If one of them is the section key, it sets the direction of the sections.
    mutating func setSortKeys(_ keys: [SortKey]) {
        if let key = keys.first(where: { $0.keyPath == sectionSortKey }) { sectionsAscend = key.isAscending }
        let others = keys.filter { $0.keyPath != sectionSortKey }
        if !others.isEmpty { sortKeys = others }
    }

    /// Removes a sort key. The last one stays, because a list needs an order.
    mutating func removeSortKey(_ keyPath: String) {
        guard sortKeys.count > 1 else { return }
        sortKeys.removeAll { $0.keyPath == keyPath }
    }
}

nonisolated extension NSAttributeDescription {
    /// True if records can be sorted or grouped by the attribute.
    var isSortable: Bool {
        switch attributeType {
        case .transformableAttributeType, .binaryDataAttributeType, .compositeAttributeType, .undefinedAttributeType,
            .objectIDAttributeType:
            false
        default: !isTransient
        }
    }
}

nonisolated extension NSEntityDescription {
    /// The key paths by which records can be sorted and grouped: attributes of the entity and of its to-one
    /// relationships' destinations.
    var sortableKeyPaths: [String] {
        let own = properties.compactMap { $0 as? NSAttributeDescription }.filter(\.isSortable).map(\.name)
        let related = properties.compactMap { $0 as? NSRelationshipDescription }.filter {
            !$0.isToMany && !$0.isTransient
        }
        .flatMap { relationship in
            (relationship.destinationEntity?.properties ?? []).compactMap { $0 as? NSAttributeDescription }
                .filter(\.isSortable).map { "\(relationship.name).\($0.name)" }
        }
        return own + related
    }

    /// The attribute at the end of a key path through to-one relationships.
    func attribute(atKeyPath keyPath: String) -> NSAttributeDescription? {
        var entity = self
        let keys = keyPath.split(separator: ".").map(String.init)
        for key in keys.dropLast() {
            guard let next = entity.relationshipsByName[key]?.destinationEntity else { return nil }
            entity = next
        }
        return keys.last.flatMap { entity.attributesByName[$0] }
    }
}
