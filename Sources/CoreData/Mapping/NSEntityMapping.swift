import Foundation

/// The treatment of the source entity's rows. The raw values are Apple's.
public enum NSEntityMappingType: UInt, Sendable {
    /// The type of mapping is not set.
    case undefinedEntityMappingType = 0
    /// The migration policy does all the work.
    case customEntityMappingType = 1
    /// The destination entity is new.
    case addEntityMappingType = 2
    /// The source entity was removed.
    case removeEntityMappingType = 3
    /// The entity did not change.
    case copyEntityMappingType = 4
    /// The entity changed.
    case transformEntityMappingType = 5
}

/// Maps the objects of one entity to another in a migration.
///
/// Used by one thread at a time, like its mapping model.
open class NSEntityMapping: NSObject {
    private var explicitName: String?

    /// The name, unique in the mapping model. Defaults to `Source->Destination`.
    open var name: String! {
        get { explicitName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { explicitName = newValue }
    }

    /// The treatment of the source entity's rows.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    /// The entity in the source model; `nil` if the mapping adds an entity.
    open var sourceEntityName: String?
    /// The version hash of the source entity when the mapping was made; `nil` matches any.
    open var sourceEntityVersionHash: Data?
    /// The entity in the destination model; `nil` if the mapping removes an entity.
    open var destinationEntityName: String?
    /// The version hash of the destination entity when the mapping was made; `nil` matches any.
    open var destinationEntityVersionHash: Data?
    /// The mappings of attributes. If `nil` or empty in a copy mapping, attributes are copied by name.
    open var attributeMappings: [NSPropertyMapping]?
    /// The mappings of relationships. If `nil` or empty in a copy mapping, relationships are copied by name.
    open var relationshipMappings: [NSPropertyMapping]?
    /// The expression for the source objects; `nil` means all objects of the source entity, without its subentities.
    open var sourceExpression: NSExpression?
    /// The class that performs the mapping; `nil` means ``NSEntityMigrationPolicy``.
    open var entityMigrationPolicyClassName: String?
    /// Data of the program that made the mapping, for its policy for example.
    open var userInfo: [AnyHashable: Any]?

    /// Two entity mappings are equal if all their properties are.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        return self === other || hasEntities(of: other) && hasValues(of: other)
    }
    open override var hash: Int { name.hashValue }

    private func hasEntities(of other: NSEntityMapping) -> Bool {
        name == other.name && mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
            && sourceEntityVersionHash == other.sourceEntityVersionHash
            && destinationEntityName == other.destinationEntityName
            && destinationEntityVersionHash == other.destinationEntityVersionHash
    }

    private func hasValues(of other: NSEntityMapping) -> Bool {
        attributeMappings == other.attributeMappings && relationshipMappings == other.relationshipMappings
            && sourceExpression == other.sourceExpression
            && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
            && userInfo as NSDictionary? == other.userInfo as NSDictionary?
    }

    open override var description: String { "<NSEntityMapping> \(name ?? "") (\(mappingType))" }
}
