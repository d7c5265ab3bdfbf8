/// Copies whole models: the references between descriptions lead inside the copy afterwards.
enum ModelCopying {
    static func copy(of model: NSManagedObjectModel) -> NSManagedObjectModel {
        let copy = NSManagedObjectModel()
        copy.entities = copies(of: model.entities)
        copy.configurationMembers = model.configurationMembers
        copy.versionIdentifiers = model.versionIdentifiers
        copy.localizationDictionary = model.localizationDictionary
        return copy
    }

    /// Copies of `entities` with the hierarchy, destinations, inverses and index elements among the copies.
    static func copies(of entities: [NSEntityDescription]) -> [NSEntityDescription] {
        let pairs = entities.compactMap { entity in (entity.copy() as? NSEntityDescription).map { (entity, $0) } }
        let copies = Dictionary(
            pairs.map { (ObjectIdentifier($0), $1) }, uniquingKeysWith: { first, _ in first })
        for (original, copy) in pairs {
            copy.subentities = original.subentities.compactMap { copies[ObjectIdentifier($0)] }
        }
        for (_, copy) in pairs {
            for relationship in copy.ownProperties.compactMap({ $0 as? NSRelationshipDescription }) {
                redirect(relationship, among: copies)
            }
            let properties = copy.propertiesByName
            for element in copy.indexes.flatMap(\.elements) {
                if let name = element.propertyName, let property = properties[name] { element.property = property }
            }
        }
        return pairs.map(\.1)
    }

    /// Leads a copied relationship to the copies of its destination and inverse.
    private static func redirect(
        _ relationship: NSRelationshipDescription, among copies: [ObjectIdentifier: NSEntityDescription]
    ) {
        let inverse = relationship.inverseRelationship
        if let owner = inverse?.owningEntity, let name = inverse?.name, let copy = copies[ObjectIdentifier(owner)] {
            relationship.inverseRelationship =
                copy.ownProperties.first { $0.name == name } as? NSRelationshipDescription
        }
        if let destination = relationship.destinationEntity, let copy = copies[ObjectIdentifier(destination)] {
            relationship.destinationEntity = copy
        }
    }
}
