import Foundation

/// The version hashes of a model in its plain form, for the model compiler; the classes compute the same hashes.
package enum ModelHashes {
    /// The hash of every entity.
    ///
    /// - Parameter model: A consistent model, as the readers return it.
    package static func entities(of model: ModelDocument) -> [String: Data] {
        let entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var made: [String: Data] = [:]
        var inherited: [String: [(name: String, hash: Data)]] = [:]

        /// All stored properties of the entity, including inherited ones.
        func properties(of entity: EntityDocument) -> [(name: String, hash: Data)] {
            if let known = inherited[entity.name] { return known }
            let parent = entity.parentName.flatMap { entities[$0] }
            let own = entity.properties.compactMap { property in
                isStored(property) ? (property.name, Self.hash(of: property, in: entity, model: entities)) : nil
            }
            let all = (parent.map(properties) ?? []) + own
            inherited[entity.name] = all
            return all
        }
        func entityHash(_ entity: EntityDocument) -> Data {
            if let known = made[entity.name] { return known }
            let hash = VersionHashFormula.entity(
                name: entity.name, isAbstract: entity.isAbstract,
                parent: entity.parentName.flatMap { entities[$0] }.map(entityHash),
                properties: properties(of: entity), modifier: entity.versionHashModifier,
                constraints: entity.uniquenessConstraints)
            made[entity.name] = hash
            return hash
        }
        for entity in model.entities { _ = entityHash(entity) }
        return made
    }

    private static func isStored(_ property: PropertyDocument) -> Bool {
        if case .fetched = property.kind { return false }
        return !property.isTransient
    }

    private static func hash(
        of property: PropertyDocument, in entity: EntityDocument, model entities: [String: EntityDocument]
    ) -> Data {
        let common = VersionHashFormula.Property(
            name: property.name, isOptional: property.isOptional, modifier: property.versionHashModifier)
        switch property.kind {
        case .attribute(let attribute): return hash(of: attribute, common, in: entity, model: entities)
        case .relationship(let relationship):
            let isOwnInverse =
                relationship.inverseName == property.name
                && declares(property.name, from: relationship.destinationName, in: entities) == entity.name
            return VersionHashFormula.relationship(
                common, destination: relationship.destinationName,
                inverse: isOwnInverse ? nil : relationship.inverseName, maxCount: relationship.maxCount,
                minCount: relationship.minCount, isOrdered: relationship.isOrdered)
        case .fetched: return VersionHashFormula.other(common)
        }
    }

    private static func hash(
        of attribute: AttributeDocument, _ common: VersionHashFormula.Property, in entity: EntityDocument,
        model entities: [String: EntityDocument]
    ) -> Data {
        if attribute.type == .composite, !attribute.isDerived {
            return VersionHashFormula.composite(
                attribute.elements.map { ($0.name, hash(of: $0, in: entity, model: entities)) },
                modifier: common.modifier)
        }
        var addition: [UInt8] = []
        if attribute.isDerived {
            addition = VersionHashFormula.derivation(attribute.derivation.map(SyntaxPrinter.standardText) ?? "")
        }
        return VersionHashFormula.attribute(
            common, type: attribute.type.rawValue, isExternal: attribute.allowsExternalBinaryDataStorage,
            isPreserved: attribute.preservesValueInHistoryOnDeletion, addition: addition)
    }

    /// The name of the entity, `name` or an ancestor, that declares the property.
    private static func declares(
        _ property: String, from name: String, in entities: [String: EntityDocument]
    ) -> String? {
        var current = entities[name]
        while let entity = current {
            if entity.property(named: property) != nil { return entity.name }
            current = entity.parentName.flatMap { entities[$0] }
        }
        return nil
    }
}
