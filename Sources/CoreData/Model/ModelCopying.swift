/// Copies whole models. References between the copied descriptions stay inside the copy.
enum ModelCopying {
    static func copy(of model: NSManagedObjectModel) -> NSManagedObjectModel {
        let copy = NSManagedObjectModel()
        copy.entities = copies(of: model.entities)
        copy.configurationMembers = model.configurationMembers
        copy.versionIdentifiers = model.versionIdentifiers
        copy.localizationDictionary = model.localizationDictionary
        copy.classModules = model.classModules
        copy.isInferred = model.isInferred
        copy.inferenceNotes = model.inferenceNotes
        copy.readingNotes = model.readingNotes
        copy.unknownParts = model.unknownParts
        for (name, template) in templates(of: model, among: copy.entitiesByName) {
            copy.setFetchRequestTemplate(template, forName: name)
        }
        for (original, twin) in zip(model.entities, copy.entities) {
            twin.writtenVersionHash = original.writtenVersionHash
        }
        return copy
    }

    /// Copies of the model's named requests for `entities`; omits requests for other entities.
    static func templates(
        of model: NSManagedObjectModel, among entities: [String: NSEntityDescription]
    ) -> [String: NSFetchRequest<NSFetchRequestResult>] {
        model.fetchRequestTemplatesByName.compactMapValues { template in
            guard let name = template.entityName, let entity = entities[name],
                let copy = template.copy() as? NSFetchRequest<NSFetchRequestResult>
            else { return nil }
            copy.entity = entity
            return copy
        }
    }

    /// Copies of `entities`. Hierarchy, destinations, inverses, requests and index elements refer to the copies.
    ///
    /// - Parameter twins: entities that equal one of `entities`. References to them become references to its copy.
    static func copies(
        of entities: [NSEntityDescription], twins: [(twin: NSEntityDescription, of: NSEntityDescription)] = []
    ) -> [NSEntityDescription] {
        let pairs = entities.compactMap { entity in (entity.copy() as? NSEntityDescription).map { (entity, $0) } }
        var copies = Dictionary(pairs.map { (ObjectIdentifier($0), $1) }, uniquingKeysWith: { first, _ in first })
        for (twin, original) in twins { copies[ObjectIdentifier(twin)] = copies[ObjectIdentifier(original)] }
        for (original, copy) in pairs {
            copy.subentities = original.subentities.compactMap { copies[ObjectIdentifier($0)] }
        }
        for (_, copy) in pairs {
            for property in copy.ownProperties { redirect(property, among: copies) }
            let properties = copy.propertiesByName
            for element in copy.indexes.flatMap(\.elements) {
                if let name = element.propertyName, let property = properties[name] { element.property = property }
            }
        }
        return pairs.map(\.1)
    }

    /// Replaces the references of a copied relationship or fetched property by the copies.
    private static func redirect(
        _ property: NSPropertyDescription, among copies: [ObjectIdentifier: NSEntityDescription]
    ) {
        switch property {
        case let relationship as NSRelationshipDescription:
            let inverse = relationship.inverseRelationship
            if let owner = inverse?.owningEntity, let name = inverse?.name, let copy = copies[ObjectIdentifier(owner)] {
                relationship.inverseRelationship =
                    copy.ownProperties.first { $0.name == name } as? NSRelationshipDescription
            }
            if let destination = relationship.destinationEntity, let copy = copies[ObjectIdentifier(destination)] {
                relationship.destinationEntity = copy
            }
        case let fetched as NSFetchedPropertyDescription:
            if let entity = fetched.fetchRequest?.entity, let copy = copies[ObjectIdentifier(entity)] {
                fetched.fetchRequest?.entity = copy
            }
        default: break
        }
    }
}
