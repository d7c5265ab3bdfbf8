import Foundation

/// The default steps of migration policies.
struct MigrationSteps {
    unowned let manager: NSMigrationManager

    /// Creates the destination object of a source object, with the values of the attribute mappings.
    func createInstance(
        from source: NSManagedObject, in mapping: NSEntityMapping, policy: NSEntityMigrationPolicy
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        let object = NSEntityDescription.insertNewObject(
            forEntityName: entity.name ?? "", into: manager.destinationContext)
        for (property, name) in properties(mapping.attributeMappings) {
            guard let attribute = entity.attributesByName[name] else { throw missing(name, entity, mapping) }
            guard let value = try value(of: property, from: source, to: object, mapping, policy) else { continue }
            let moved = Self.moved(value.value, to: attribute, from: source)
            set(attribute, of: object, to: try converted(moved, for: attribute, mapping))
        }
        if mapping.mappingType == .copyEntityMappingType, mapping.attributeMappings ?? [] == [] {
            for (name, attribute) in entity.attributesByName
            where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
                && source.entity.attributesByName[name] != nil
            {
                let moved = Self.moved(source.value(forKey: name), to: attribute, from: source)
                set(attribute, of: object, to: try converted(moved, for: attribute, mapping))
            }
        }
        manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
    }

    /// Renames the elements in a composite attribute's value if it equals the source's value; returns other values
    /// unchanged.
    private static func moved(
        _ value: Any?, to attribute: NSAttributeDescription, from source: NSManagedObject
    ) -> Any? {
        guard let composite = attribute as? NSCompositeAttributeDescription, let whole = value as? NSDictionary,
            let former = composite.source(in: source.entity) as? NSCompositeAttributeDescription,
            source.value(forKey: former.name) as? NSDictionary == whole
        else { return value }
        return composite.leaves.reduce(into: [String: Any]()) { result, leaf in
            guard let path = composite.source(of: leaf, in: former)?.path else { return }
            let part = path.reduce(whole as Any?) { ($0 as? NSDictionary)?[$1 as NSString] }
            if let part { result = CompositeValue.setting(part, at: leaf.path[...], of: result, composite) }
        }
    }

    /// Sets an attribute. If a value is now required but missing, the default remains.
    private func set(_ attribute: NSAttributeDescription, of object: NSManagedObject, to value: Any?) {
        if value == nil, !attribute.isOptional, attribute.defaultValue != nil { return }
        object.setValue(value, forKey: attribute.name)
    }

    /// Sets an object's relationships by the relationship mappings.
    func createRelationships(
        of object: NSManagedObject, in mapping: NSEntityMapping, policy: NSEntityMigrationPolicy
    ) throws {
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [object])
        guard let source = sources.first else { return }
        var mappings = properties(mapping.relationshipMappings)
        if mapping.mappingType == .copyEntityMappingType, mappings.isEmpty {
            mappings = object.entity.relationshipsByName.keys.filter {
                source.entity.relationshipsByName[$0] != nil
            }.sorted().map { name in
                let property = NSPropertyMapping()
                property.name = name
                property.valueExpression = NSExpression(InferredMappings.destinations(ofRelationship: name))
                return (property, name)
            }
        }
        for (property, name) in mappings {
            guard let relationship = object.entity.relationshipsByName[name] else {
                throw missing(name, object.entity, mapping)
            }
            guard let value = try value(of: property, from: source, to: object, mapping, policy) else { continue }
            try set(relationship, of: object, to: value.value, mapping)
        }
    }

    private func properties(_ mappings: [NSPropertyMapping]?) -> [(NSPropertyMapping, String)] {
        (mappings ?? []).map { ($0, $0.name ?? "") }
    }

    private func missing(_ name: String, _ entity: NSEntityDescription, _ mapping: NSEntityMapping) -> NSError {
        CoreDataError.make(
            134170, "The mapping \(mapping.name ?? "") sets \(name), which \(entity.name ?? "") does not have.")
    }

    private struct Value { let value: Any? }

    /// - Returns: `nil` if the mapping has no expression. A `nil` inside the optional is set as the value.
    private func value(
        of property: NSPropertyMapping, from source: NSManagedObject, to object: NSManagedObject,
        _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
    ) throws -> Value? {
        guard let expression = property.valueExpression else { return nil }
        let evaluation = MappingExpression(
            tree: expression.tree, manager: manager, owner: "\(mapping.name ?? "").\(property.name ?? "")")
        if let key = evaluation.keyOfSource { return Value(value: try evaluation.value(of: key, in: source)) }
        return Value(
            value: try evaluation.value([
                NSMigrationManagerKey: manager, NSMigrationSourceObjectKey: source,
                NSMigrationDestinationObjectKey: object, NSMigrationEntityMappingKey: mapping,
                NSMigrationPropertyMappingKey: property, NSMigrationEntityPolicyKey: policy,
            ]))
    }

    // MARK: Values

    /// The value in the class of the attribute; numbers are converted to its number type.
    private func converted(
        _ value: Any?, for attribute: NSAttributeDescription, _ mapping: NSEntityMapping
    ) throws -> Any? {
        guard let value, !(value is NSNull) else { return nil }
        switch (attribute.attributeType, value) {
        case (.decimalAttributeType, let number as NSNumber) where !(number is NSDecimalNumber):
            return NSDecimalNumber(decimal: number.decimalValue)
        case (.stringAttributeType, is String), (.dateAttributeType, is Date), (.binaryDataAttributeType, is Data),
            (.UUIDAttributeType, is UUID), (.URIAttributeType, is URL):
            return value
        case (.stringAttributeType, _), (.dateAttributeType, _), (.binaryDataAttributeType, _),
            (.UUIDAttributeType, _), (.URIAttributeType, _):
            throw unfit(value, attribute.name, mapping)
        case (.integer16AttributeType, _), (.integer32AttributeType, _), (.integer64AttributeType, _),
            (.doubleAttributeType, _), (.floatAttributeType, _), (.booleanAttributeType, _),
            (.decimalAttributeType, _):
            guard
                value is NSNumber || value is Decimal || (value as? any BinaryInteger) != nil || value is Double
                    || value is Bool || value is Float
            else { throw unfit(value, attribute.name, mapping) }
            return value
        case (.compositeAttributeType, let parts as [String: Any]):
            guard let composite = attribute as? NSCompositeAttributeDescription else { return value }
            var result: [String: Any] = [:]
            for element in composite.elements {
                result[element.name] = try converted(parts[element.name], for: element, mapping)
            }
            return result
        case (.compositeAttributeType, _): throw unfit(value, attribute.name, mapping)
        default: return value
        }
    }

    private func unfit(_ value: Any, _ name: String, _ mapping: NSEntityMapping) -> NSError {
        CoreDataError.make(
            134170,
            "The mapping \(mapping.name ?? "") sets \(name) to a \(type(of: value)), which is not its type."
        )
    }

    private func set(
        _ relationship: NSRelationshipDescription, of object: NSManagedObject, to value: Any?,
        _ mapping: NSEntityMapping
    ) throws {
        let objects: [Any] =
            switch value {
            case nil, is NSNull: []
            case let list as NSOrderedSet: list.array
            case let list as [Any]: list
            case let set as NSSet: set.allObjects
            case let set as Set<NSManagedObject>: Array(set)
            case let value?: [value]
            }
        var members: [NSManagedObject] = []
        for object in objects {
            guard let member = object as? NSManagedObject, member.managedObjectContext === manager.destinationContext,
                let wanted = relationship.destinationEntity, member.entity.isKindOf(entity: wanted)
            else { throw unfit(object, relationship.name, mapping) }
            members.append(member)
        }
        if !relationship.isToMany {
            object.setValue(members.first, forKey: relationship.name)
        } else if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: members), forKey: relationship.name)
        } else {
            object.setValue(NSSet(array: members), forKey: relationship.name)
        }
    }
}
