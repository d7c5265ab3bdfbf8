/// The variable of a mapping model's expressions that stands for the ``NSMigrationManager``.
public let NSMigrationManagerKey = "manager"
/// The variable of a mapping model's expressions that stands for the source object, which is migrated.
public let NSMigrationSourceObjectKey = "source"
/// The variable of a mapping model's expressions that stands for the destination object, which the source becomes.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable of a mapping model's expressions that stands for the ``NSEntityMapping`` at work.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable of a mapping model's expressions that stands for the ``NSPropertyMapping`` at work.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable of a mapping model's expressions that stands for the ``NSEntityMigrationPolicy`` at work.
public let NSMigrationEntityPolicyKey = "entityPolicy"
