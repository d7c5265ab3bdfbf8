/// The variable of a mapping model's expressions that stands for the ``NSMigrationManager``.
public let NSMigrationManagerKey = "manager"
/// The variable that stands for the object that is migrated.
public let NSMigrationSourceObjectKey = "source"
/// The variable that stands for the object that it becomes.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable that stands for the ``NSEntityMapping``.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable that stands for the ``NSPropertyMapping``.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable that stands for the ``NSEntityMigrationPolicy``.
public let NSMigrationEntityPolicyKey = "entityPolicy"
