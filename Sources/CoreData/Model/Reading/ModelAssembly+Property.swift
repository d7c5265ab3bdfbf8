import Foundation
import ModelFiles

extension ModelAssembly {
    /// Converts a property of a model file to its description.
    ///
    /// - Parameter path: the names of the entity and the property, for messages.
    func property(_ source: PropertyDocument, path: String) throws -> NSPropertyDescription {
        let property: NSPropertyDescription
        switch source.kind {
        case .attribute(let attribute): property = try self.attribute(attribute, path: path)
        case .relationship(let relationship): property = self.relationship(relationship)
        case .fetched(let request):
            let fetched = NSFetchedPropertyDescription()
            if let request {
                let made = try fetchRequest(request)
                made.entity = entity(request.entityName)
                fetched.fetchRequest = made
            }
            property = fetched
        }
        property.name = source.name
        property.isOptional = source.isOptional
        property.isTransient = source.isTransient
        property.explicitRenamingIdentifier = source.renamingIdentifier
        property.versionHashModifier = source.versionHashModifier
        property.userInfo = ModelValue.userInfo(source.userInfo)
        property.isMarkedIndexed = source.isIndexed
        property.isIndexedBySpotlight = source.isIndexedBySpotlight
        property.isMarkedExternalRecord = source.isStoredInExternalRecord
        property.unknownParts = source.unknown
        let type = source.attribute?.type ?? .undefined
        property.validation = PropertyValidation(
            rules: try source.validations.map { try rule($0, type: type, path: path) })
        return property
    }

    private func attribute(_ source: AttributeDocument, path: String) throws -> NSAttributeDescription {
        let attribute: NSAttributeDescription
        if source.isDerived {
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = try source.derivation.map { try expression($0, path: path) }
            derived.filteringPredicate = try source.derivationFilter.map { try predicate($0, path: path) }
            attribute = derived
        } else if source.type == .composite {
            let composite = NSCompositeAttributeDescription()
            composite.elements = try source.elements.compactMap {
                try property($0, path: "\(path).\($0.name)") as? NSAttributeDescription
            }
            attribute = composite
        } else {
            attribute = NSAttributeDescription()
        }
        let type = NSAttributeType(rawValue: source.type.rawValue) ?? .undefinedAttributeType
        attribute.attributeType = type
        if let className = source.valueClassName { attribute.attributeValueClassName = className }
        attribute.defaultValue = source.defaultValue.flatMap { ModelValue.object($0, type: type) }
        attribute.valueTransformerName = source.valueTransformerName
        attribute.allowsExternalBinaryDataStorage = source.allowsExternalBinaryDataStorage
        attribute.allowsCloudEncryption = source.allowsCloudEncryption
        attribute.preservesValueInHistoryOnDeletion = source.preservesValueInHistoryOnDeletion
        return attribute
    }

    private func relationship(_ source: RelationshipDocument) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = source.maxCount
        relationship.minCount = source.minCount
        relationship.isOrdered = source.isOrdered
        relationship.deleteRule = NSDeleteRule(rawValue: UInt(source.deleteRule.rawValue)) ?? .nullifyDeleteRule
        return relationship
    }

    private func rule(
        _ source: ValidationDocument, type: AttributeKind, path: String
    ) throws -> PropertyValidation.Rule {
        let code = source.errorCode(for: type) ?? 1550
        switch source {
        case .minimum(let value):
            if let value = ModelValue.slotValue(value) { return .minimum(value, code: code) }
        case .maximum(let value):
            if let value = ModelValue.slotValue(value) { return .maximum(value, code: code) }
        case .minimumLength(let length): return .minimumLength(length)
        case .maximumLength(let length): return .maximumLength(length)
        case .pattern(let pattern): return .pattern(pattern)
        case .predicate: break
        }
        let warning: Any =
            switch source.warning(for: type) {
            case .code(let code): NSNumber(value: code)
            case .message(let text): text
            }
        return .predicate(try predicate(source.predicate, path: path), warning: warning)
    }
}
