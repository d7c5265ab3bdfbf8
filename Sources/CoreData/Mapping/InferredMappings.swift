import Foundation
import ModelFiles
import PredicateSyntax

/// Infers mappings from names and renaming identifiers.
struct InferredMappings {
    let difference: ModelDifference

    var all: [NSEntityMapping] {
        difference.pairs.map { mapping(from: $0.source, to: $0.destination) } + difference.removed.map(removal)
    }

    private func removal(of source: NSEntityDescription) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = "IEM_Remove_\(source.name ?? "")"
        mapping.mappingType = .removeEntityMappingType
        mapping.sourceEntityName = source.name
        mapping.sourceEntityVersionHash = source.versionHash
        return mapping
    }

    private func mapping(
        from source: NSEntityDescription?, to destination: NSEntityDescription
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.destinationEntityName = destination.name
        mapping.destinationEntityVersionHash = destination.versionHash
        let name = destination.name ?? ""
        guard let source else {
            mapping.name = "IEM_Add_\(name)"
            mapping.mappingType = .addEntityMappingType
            return mapping
        }
        let isCopy = source.versionHash == destination.versionHash
        mapping.name = isCopy ? "IEM_Copy_\(name)" : "IEM_Transform_\(name)"
        mapping.mappingType = isCopy ? .copyEntityMappingType : .transformEntityMappingType
        mapping.sourceEntityName = source.name
        mapping.sourceEntityVersionHash = source.versionHash
        mapping.sourceExpression = Self.allObjects(of: source)
        let stored = destination.properties.filter { !$0.isTransient && !($0 is NSDerivedAttributeDescription) }
        mapping.attributeMappings = stored.compactMap { $0 as? NSAttributeDescription }.map { property in
            self.mapping(of: property, in: destination) { .keyPathOf(.variable("source"), [$0]) }
        }
        mapping.relationshipMappings = stored.compactMap { $0 as? NSRelationshipDescription }.map { property in
            self.mapping(of: property, in: destination, Self.destinations)
        }
        return mapping
    }

    private func mapping(
        of property: NSPropertyDescription, in entity: NSEntityDescription, _ value: (String) -> ExpressionTree
    ) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = property.name
        mapping.valueExpression = difference.source(of: property, in: entity).map { NSExpression(value($0.name)) }
        return mapping
    }

    static func allObjects(of entity: NSEntityDescription) -> NSExpression {
        NSExpression(
            .functionOn(
                .variable("manager"), MappingSelectors.fetchRequest,
                [.constant(entity.name ?? ""), .constant("TRUEPREDICATE")]))
    }

    /// An expression for the migrated objects at the destination of the source object's relationship.
    static func destinations(ofRelationship name: String) -> ExpressionTree {
        .functionOn(
            .variable("manager"), MappingSelectors.relationshipDestinations,
            [.constant(name), .keyPathOf(.variable("source"), [name])])
    }
}
