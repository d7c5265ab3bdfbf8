import CoreData
import Foundation
import RosterCommands

/// What the user chose for the list of one entity.
struct ListSettings {
    struct SortKey: Hashable {
        var keyPath: String
        var isAscending: Bool
    }

    var sectionKey: String?
    /// What is made of the value of that key, and the levels inside, as it stands behind the key on the command line: `:month`,
    /// `:letter/kind`; `nil` makes sections by the value.
    var sectionForm: String?
    /// The direction in which the sections stand.
    var sectionsAscend = true
    /// How records are sorted within their section. The section key is not among them.
    var sortKeys: [SortKey]
    /// The filter as it was typed; empty shows all.
    var filter = ""
    var folded: Set<String> = []
    /// Where the cursor was.
    var cursor: NSManagedObjectID?
    /// The key of the column that has the focus.
    var focusedColumn: String?
    var columns = ColumnLayout()
    /// What the configuration says of the entity's columns and values.
    let preferences: EntityPreferences?

    /// An entity's list as it is first shown: sorted by what names its records, unless the configuration says otherwise.
    /// What of that does not fit the entity counts as not said.
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

    /// The sections as they are written on the command line; `nil` for none.
    var sectionText: String? {
        sectionKey.map { SectionChoice(keyPath: $0, form: sectionForm, ascends: sectionsAscend).text }
    }

    /// The key that records are sorted by for the sections alone; sections that are not of plain values come in their order
    /// whatever the sort.
    var sectionSortKey: String? { sectionForm == nil ? sectionKey : nil }

    /// All sort keys in order: that of the sections first.
    var allSortKeys: [SortKey] {
        guard let sectionSortKey else { return sortKeys }
        return [SortKey(keyPath: sectionSortKey, isAscending: sectionsAscend)]
            + sortKeys.filter { $0.keyPath != sectionSortKey }
    }

    /// The sort descriptors, with the section key in front. Of an entity without any sortable attribute, none.
    var descriptors: [NSSortDescriptor] {
        allSortKeys.map { NSSortDescriptor(key: $0.keyPath, ascending: $0.isAscending) }
    }

    /// Makes sections by a key; what makes the present ones turns their direction.
    mutating func setSectionKey(_ keyPath: String?, form: String? = nil) {
        if let keyPath, keyPath == sectionKey, form == sectionForm {
            sectionsAscend.toggle()
        } else {
            (sectionKey, sectionForm) = (keyPath, form)
            sectionsAscend = true
        }
    }

    /// Makes these sections.
    mutating func setSections(_ choice: SectionChoice) {
        if choice.keyPath != sectionKey || choice.form != sectionForm { folded = [] }
        (sectionKey, sectionForm, sectionsAscend) = (choice.keyPath, choice.form, choice.ascends)
    }

    /// Adds a key behind the others; one that is there already turns its direction.
    mutating func addSortKey(_ keyPath: String) {
        if keyPath == sectionSortKey {
            sectionsAscend.toggle()
        } else if let index = sortKeys.firstIndex(where: { $0.keyPath == keyPath }) {
            sortKeys[index].isAscending.toggle()
        } else {
            sortKeys.append(SortKey(keyPath: keyPath, isAscending: true))
        }
    }

    /// Sorts by one key alone; if that is so already, turns its direction. The sections stay: their key turns them round.
    mutating func replaceSortKeys(with keyPath: String) {
        if keyPath == sectionSortKey { return sectionsAscend.toggle() }
        let isAscending = sortKeys.count == 1 && sortKeys[0].keyPath == keyPath ? !sortKeys[0].isAscending : true
        sortKeys = [SortKey(keyPath: keyPath, isAscending: isAscending)]
    }

    /// Sorts by these keys, the first one first; one that is the sections' gives their direction.
    mutating func setSortKeys(_ keys: [SortKey]) {
        if let key = keys.first(where: { $0.keyPath == sectionSortKey }) { sectionsAscend = key.isAscending }
        let others = keys.filter { $0.keyPath != sectionSortKey }
        if !others.isEmpty { sortKeys = others }
    }

    /// Sorts no longer by a key. The last one stays: a list has an order.
    mutating func removeSortKey(_ keyPath: String) {
        guard sortKeys.count > 1 else { return }
        sortKeys.removeAll { $0.keyPath == keyPath }
    }
}

nonisolated extension NSAttributeDescription {
    /// Whether records can be put in order, or in sections, by this attribute.
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
    /// The key paths by which records can be sorted and grouped: the entity's attributes, and those of the records that
    /// its to-one relationships lead to.
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

    /// The attribute at the end of a key path over to-one relationships.
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
