import CoreData
import Foundation

/// What the user chose for the list of one entity; kept while the program runs.
struct ListSettings {
    struct SortKey: Hashable {
        var keyPath: String
        var isAscending: Bool
    }

    var sectionKey: String?
    var sortKeys: [SortKey]
    /// The filter as it was typed; empty shows all.
    var filter = ""
    var folded: Set<String> = []
    /// Where the cursor was.
    var cursor: NSManagedObjectID?
    var focusedColumn = 0

    /// An entity's list as it is first shown: sorted by what names its records.
    init(entity: NSEntityDescription) {
        let display = EntityDisplay(entity: entity)
        let first = display.label ?? entity.attributesByName.values.filter(\.isSortable).min { $0.name < $1.name }
        sortKeys = first.map { [SortKey(keyPath: $0.name, isAscending: true)] } ?? []
    }

    /// The sort descriptors, with the section key in front. Of an entity without any sortable attribute, none.
    var descriptors: [NSSortDescriptor] {
        var keys = sortKeys
        if let sectionKey, keys.first?.keyPath != sectionKey {
            keys.removeAll { $0.keyPath == sectionKey }
            keys.insert(SortKey(keyPath: sectionKey, isAscending: true), at: 0)
        }
        return keys.map { NSSortDescriptor(key: $0.keyPath, ascending: $0.isAscending) }
    }

    /// Adds a key behind the others; one that is there already turns its direction.
    mutating func addSortKey(_ keyPath: String) {
        if let index = sortKeys.firstIndex(where: { $0.keyPath == keyPath }) {
            sortKeys[index].isAscending.toggle()
        } else {
            sortKeys.append(SortKey(keyPath: keyPath, isAscending: true))
        }
    }

    /// Sorts by one key alone; if that is so already, turns its direction.
    mutating func replaceSortKeys(with keyPath: String) {
        let isAscending = sortKeys.count == 1 && sortKeys[0].keyPath == keyPath ? !sortKeys[0].isAscending : true
        sortKeys = [SortKey(keyPath: keyPath, isAscending: isAscending)]
    }

    mutating func removeSortKey(_ keyPath: String) {
        guard sortKeys.count > 1 else { return }
        sortKeys.removeAll { $0.keyPath == keyPath }
    }
}

extension NSAttributeDescription {
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

extension NSEntityDescription {
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
