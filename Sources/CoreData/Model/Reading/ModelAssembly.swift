import Foundation
import ModelFiles

/// Builds the descriptions of a model from its document.
struct ModelAssembly {
    let document: ModelDocument
    /// The model's file, for messages.
    let file: String
    private var entities: [String: NSEntityDescription] = [:]

    /// Fills an empty model.
    ///
    /// - Throws: ``ModelFileError`` if a predicate or expression does not parse. The file's reader has already
    ///   checked that all names resolve.
    static func fill(_ model: NSManagedObjectModel, from document: ModelDocument, file: String) throws {
        var assembly = ModelAssembly(document: document, file: file)
        try assembly.fill(model)
    }

    private init(document: ModelDocument, file: String) {
        self.document = document
        self.file = file
    }

    private mutating func fill(_ model: NSManagedObjectModel) throws {
        for source in document.entities {
            let entity = NSEntityDescription()
            entity.name = source.name
            entities[source.name] = entity
        }
        for source in document.entities { try fill(entity(source.name), from: source) }
        for (parent, children) in document.subentities {
            entity(parent)?.subentities = children.compactMap { entity($0.name) }
        }
        for source in document.entities { try connect(source) }
        model.entities = document.entities.compactMap { entity($0.name) }
        model.unknownParts = document.unknown
        for configuration in document.configurations {
            let members = configuration.entityNames.compactMap { entity($0) }
            model.setEntities(members, forConfigurationName: configuration.name)
            let part = NSManagedObjectModel.unknownPart(ofConfiguration: configuration.name)
            model.unknownParts[part: part] = configuration.unknown
        }
        model.versionIdentifiers = Set(document.versionIdentifiers.map(AnyHashable.init))
        for template in document.fetchRequests {
            let request = try fetchRequest(template)
            request.entity = entity(template.entityName)
            model.setFetchRequestTemplate(request, forName: template.name)
        }
    }

    func entity(_ name: String) -> NSEntityDescription? { entities[name] }

    private func fill(_ entity: NSEntityDescription?, from source: EntityDocument) throws {
        guard let entity else { return }
        entity.explicitClassName = source.className
        entity.isAbstract = source.isAbstract
        entity.explicitRenamingIdentifier = source.renamingIdentifier
        entity.versionHashModifier = source.versionHashModifier
        entity.userInfo = ModelValue.userInfo(source.userInfo)
        entity.uniquenessConstraintNames = source.uniquenessConstraints
        entity.compoundIndexNames = source.compoundIndexes
        entity.unknownParts = source.unknown
        entity.properties = try source.properties.map { try property($0, path: "\(source.name).\($0.name)") }
    }

    /// Connects relationships to their destinations and inverses, and indexes to their properties.
    private func connect(_ source: EntityDocument) throws {
        guard let entity = entity(source.name) else { return }
        for property in source.properties {
            guard case .relationship(let relationship) = property.kind,
                let description = entity.relationshipsByName[property.name],
                let destination = self.entity(relationship.destinationName)
            else { continue }
            description.destinationEntity = destination
            description.inverseRelationship = relationship.inverseName.flatMap { destination.relationshipsByName[$0] }
        }
        if !source.fetchIndexes.isEmpty {
            entity.indexes = try source.fetchIndexes.map { try fetchIndex($0, of: entity) }
        }
    }

    private func fetchIndex(
        _ source: FetchIndexDocument, of entity: NSEntityDescription
    ) throws -> NSFetchIndexDescription {
        let path = "\(entity.name ?? "").\(source.name)"
        let elements = try source.elements.compactMap { element -> NSFetchIndexElementDescription? in
            let property: NSPropertyDescription
            switch element.content {
            case .property(let name):
                guard let found = entity.propertiesByName[name] else { return nil }
                property = found
            case .expression(let expression, let name, let resultType):
                let description = NSExpressionDescription()
                description.name = name
                description.expression = try self.expression(expression, path: path)
                description.expressionResultType = NSAttributeType(rawValue: resultType) ?? .undefinedAttributeType
                property = description
            }
            let made = NSFetchIndexElementDescription(
                property: property, collationType: element.isRTree ? .rTree : .binary)
            made.isAscending = element.isAscending
            made.unknownParts = element.unknown
            return made
        }
        let index = NSFetchIndexDescription(name: source.name, elements: elements)
        index.unknownParts = source.unknown
        index.partialIndexPredicate = try source.partialPredicate.map { try predicate($0, path: path) }
        return index
    }
}
