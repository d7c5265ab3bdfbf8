import Foundation
import ModelFiles

/// Builds the document of a model from its descriptions.
///
/// Omits the parts that only source models have (editor settings, generated classes).
enum ModelDisassembly {
    /// Converts a model to the form of model files.
    ///
    /// - Throws: ``PredicateTranslation/Failure`` for predicates and expressions that a file cannot hold.
    static func document(of model: NSManagedObjectModel) throws -> ModelDocument {
        var document = ModelDocument()
        document.unknown = model.unknownParts
        document.entities = try model.entities.map(self.document(of:))
        document.configurations = model.configurations.map { name in
            let part = NSManagedObjectModel.unknownPart(ofConfiguration: name)
            var configuration = ConfigurationDocument(
                name: name, entityNames: model.configurationMembers[name] ?? [])
            configuration.unknown = document.unknown[part: part]
            document.unknown[part: part] = UnknownParts()
            return configuration
        }
        document.versionIdentifiers = model.versionIdentifiers.map { "\($0.base)" }.sorted()
        document.fetchRequests = try model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.compactMap {
            try self.document(of: $0.value, name: $0.key)
        }
        return document
    }

    static func document(of entity: NSEntityDescription) throws -> EntityDocument {
        var document = EntityDocument(name: entity.name ?? "")
        document.className = entity.explicitClassName
        document.isAbstract = entity.isAbstract
        document.parentName = entity.superentity?.name
        document.renamingIdentifier = entity.explicitRenamingIdentifier
        document.versionHashModifier = entity.versionHashModifier
        document.userInfo = ModelValue.document(userInfo: entity.userInfo)
        document.uniquenessConstraints = entity.uniquenessConstraintNames
        document.compoundIndexes = entity.compoundIndexNames
        document.unknown = entity.unknownParts
        document.properties = try entity.ownProperties.compactMap(self.document(of:))
        document.fetchIndexes = try entity.indexes.map(self.document(of:))
        return document
    }

    static func document(of index: NSFetchIndexDescription) throws -> FetchIndexDocument {
        let elements = try index.elements.compactMap { element -> FetchIndexElementDocument? in
            guard let property = element.property else { return nil }
            var content = FetchIndexElementDocument.Content.property(property.name)
            if let description = property as? NSExpressionDescription {
                guard let expression = try self.document(of: description.expression) else { return nil }
                content = .expression(
                    expression, name: description.name, resultType: description.expressionResultType.rawValue)
            }
            var document = FetchIndexElementDocument(
                content: content, isRTree: element.collationType == .rTree, isAscending: element.isAscending)
            document.unknown = element.unknownParts
            return document
        }
        let predicate = try self.document(of: index.partialIndexPredicate)
        var document = FetchIndexDocument(name: index.name, elements: elements, partialPredicate: predicate)
        document.unknown = index.unknownParts
        return document
    }

    static func document(of property: NSPropertyDescription) throws -> PropertyDocument? {
        let kind: PropertyDocument.Kind
        switch property {
        case let attribute as NSAttributeDescription: kind = .attribute(try self.document(of: attribute))
        case let relationship as NSRelationshipDescription: kind = .relationship(self.document(of: relationship))
        case let fetched as NSFetchedPropertyDescription:
            kind = .fetched(
                try fetched.fetchRequest.flatMap { try self.document(of: $0, name: "fetchedPropertyFetchRequest") })
        default: return nil
        }
        var document = PropertyDocument(name: property.name, kind: kind)
        document.isOptional = property.isOptional
        document.isTransient = property.isTransient
        document.renamingIdentifier = property.explicitRenamingIdentifier
        document.versionHashModifier = property.versionHashModifier
        document.userInfo = ModelValue.document(userInfo: property.userInfo)
        document.isIndexed = property.isMarkedIndexed
        document.isIndexedBySpotlight = property.isIndexedBySpotlight
        document.isStoredInExternalRecord = property.isMarkedExternalRecord
        document.unknown = property.unknownParts
        let type = (property as? NSAttributeDescription)?.attributeType ?? .undefinedAttributeType
        document.validations = try property.validation.rules.compactMap { try self.document(of: $0, type: type) }
        return document
    }

    private static func document(of attribute: NSAttributeDescription) throws -> AttributeDocument {
        let kind = AttributeKind(rawValue: attribute.attributeType.rawValue) ?? .undefined
        var document = AttributeDocument(type: kind)
        if attribute.attributeValueClassName != kind.valueClassName {
            document.valueClassName = attribute.attributeValueClassName
        }
        document.defaultValue = attribute.defaultValue.map { ModelValue.document($0, type: attribute.attributeType) }
        document.valueTransformerName = attribute.valueTransformerName
        document.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
        document.allowsCloudEncryption = attribute.allowsCloudEncryption
        document.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
        if let derived = attribute as? NSDerivedAttributeDescription {
            document.derivation = try self.document(of: derived.derivationExpression)
            document.derivationFilter = try self.document(of: derived.filteringPredicate)
            document.hasUnknownDerivation = document.derivation == nil
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            document.elements = try composite.elements.compactMap { try self.document(of: $0 as NSPropertyDescription) }
        }
        return document
    }

    private static func document(of relationship: NSRelationshipDescription) -> RelationshipDocument {
        var document = RelationshipDocument(destinationName: relationship.destinationEntity?.name ?? "")
        document.inverseName = relationship.inverseRelationship?.name
        document.maxCount = relationship.maxCount
        document.minCount = relationship.minCount
        document.isOrdered = relationship.isOrdered
        document.deleteRule = DeleteRuleKind(rawValue: Int(relationship.deleteRule.rawValue)) ?? .nullify
        return document
    }

    private static func document(
        of rule: PropertyValidation.Rule, type: NSAttributeType
    ) throws -> ValidationDocument? {
        switch rule {
        case .minimum(let value, _): return .minimum(ModelValue.document(value, type: type))
        case .maximum(let value, _): return .maximum(ModelValue.document(value, type: type))
        case .minimumLength(let length): return .minimumLength(length)
        case .maximumLength(let length): return .maximumLength(length)
        case .pattern(let pattern): return .pattern(pattern)
        case .predicate(let predicate, let warning):
            guard let document = try self.document(of: predicate) else { return nil }
            if let code = warning as? NSNumber { return .predicate(document, warning: .code(code.intValue)) }
            return .predicate(document, warning: .message("\(warning)"))
        }
    }
}
