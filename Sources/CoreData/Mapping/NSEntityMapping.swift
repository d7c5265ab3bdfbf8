import Foundation

/// What a mapping does with the rows of its source entity. The raw values are Apple's.
public enum NSEntityMappingType: UInt, Sendable {
    /// No kind was set.
    case undefinedEntityMappingType = 0
    /// The migration policy does all.
    case customEntityMappingType = 1
    /// The destination entity is new.
    case addEntityMappingType = 2
    /// The source entity is gone.
    case removeEntityMappingType = 3
    /// The entity did not change.
    case copyEntityMappingType = 4
    /// The entity changed.
    case transformEntityMappingType = 5
}

/// Says how the objects of one entity become those of another in a migration.
///
/// Used by one thread at a time, as the mapping model that it is in.
open class NSEntityMapping: NSObject {
    private var explicitName: String?

    /// The name, unique in the mapping model; `Source->Destination` where none was set.
    open var name: String! {
        get { explicitName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { explicitName = newValue }
    }

    /// How the entity's objects become those of the destination.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    /// The entity in the source model; `nil` where the mapping adds an entity.
    open var sourceEntityName: String?
    /// The version hash that the source entity had when the mapping was made; `nil` fits any.
    open var sourceEntityVersionHash: Data?
    /// The entity in the destination model; `nil` where the mapping removes an entity.
    open var destinationEntityName: String?
    /// The version hash that the destination entity had when the mapping was made; `nil` fits any.
    open var destinationEntityVersionHash: Data?
    /// How attributes get their values; `nil` or none, in a mapping that copies, takes those of the same names.
    open var attributeMappings: [NSPropertyMapping]?
    /// How relationships get their objects; `nil` or none, in a mapping that copies, takes those of the same names.
    open var relationshipMappings: [NSPropertyMapping]?
    /// What gives the source objects; `nil` means all objects of the source entity itself, without its sub-entities.
    open var sourceExpression: NSExpression?
    /// The class that does the mapping; `nil` means ``NSEntityMigrationPolicy`` itself.
    open var entityMigrationPolicyClassName: String?
    /// What belongs to the program that made the mapping, for its policy for example.
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
