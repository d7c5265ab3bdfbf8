import CoreData

/// Choice of the columns to print.
package enum ColumnChoice {
    /// The columns of `name, wins / (wins + losses) as rate`.
    package static func names(_ text: String) -> [String] { ColumnText.list(text) }

    /// The named columns.
    /// - Throws: ``CommandError`` of misuse for a key that the entity does not have.
    static func named(_ names: [String], of entity: NSEntityDescription) throws -> [RecordColumn] {
        try names.map { try RecordColumn($0, of: entity) }
    }

    /// Columns of a list: the unique key, the keys of the sort, then the other attributes and to-one relationships. The
    /// records' URIs if there are none of these.
    static func list(of entity: NSEntityDescription, sort: [SortKey], withObject: Bool) throws -> [RecordColumn] {
        let key = UniqueKey(of: entity)?.attributes.map(\.name) ?? []
        let own = entity.storedAttributes.map(\.name) + entity.storedRelationships.filter { !$0.isToMany }.map(\.name)
        let object =
            withObject && entity.propertiesByName[RecordColumn.objectName] == nil ? [RecordColumn.objectName] : []
        let names = unique(object + key + sort.map(\.keyPath) + own)
        return try named(names.isEmpty ? [RecordColumn.objectName] : names, of: entity)
    }

    /// The ordered relationships that an export leaves out because the other side's records name this one.
    static func orders(leftOutOf entity: NSEntityDescription) -> [String] {
        entity.storedRelationships.filter { $0.isToMany && $0.isOrdered && !$0.isNamedHere }.map(\.name)
    }

    /// Columns of an export that an import reads back: the record's own properties and owned parts. Without
    /// relationships that the other side's records name.
    ///
    /// - Parameter nests: true if a part is one value; else its attributes are columns.
    static func export(of entity: NSEntityDescription, nests: Bool) throws -> [RecordColumn] {
        var names = entity.storedAttributes.map(\.name)
        for relationship in entity.storedRelationships {
            if relationship.isToMany {
                if relationship.isNamedHere { names.append(relationship.name) }
            } else if relationship.isOwnedPart, !nests, let part = relationship.destinationEntity {
                names += part.storedAttributes.map { relationship.name + "." + $0.name }
            } else if relationship.inverseRelationship?.isOwnedPart != true {
                names.append(relationship.name)
            }
        }
        return try named(names, of: entity)
    }

    private static func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}

extension NSRelationshipDescription {
    /// True if an export writes the destinations of this to-many relationship. Only one side of a pair names the other,
    /// so that one of the two files can be imported first: the to-one side, the ordered side, or the first by name.
    fileprivate var isNamedHere: Bool {
        guard let inverse = inverseRelationship, inverse !== self else { return true }
        guard inverse.isToMany else { return false }
        // Each side has its own order, which must not be lost.
        if isOrdered || inverse.isOrdered { return isOrdered }
        return place < inverse.place
    }

    private var place: String { (entity.name ?? "") + "." + name }
}
