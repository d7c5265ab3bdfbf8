/// The variable for the ``NSMigrationManager`` in mapping expressions.
public let NSMigrationManagerKey = "manager"
/// The variable for the source object in mapping expressions.
public let NSMigrationSourceObjectKey = "source"
/// The variable for the destination object, created from the source, in mapping expressions.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable for the current ``NSEntityMapping`` in mapping expressions.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable for the current ``NSPropertyMapping`` in mapping expressions.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable for the current ``NSEntityMigrationPolicy`` in mapping expressions.
public let NSMigrationEntityPolicyKey = "entityPolicy"
