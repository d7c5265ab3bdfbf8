// The strings of store types, options and metadata. They are Apple's where they are known: stores and logs hold them.

/// The store type of SQLite databases with Apple's schema.
public let NSSQLiteStoreType = "SQLite"
/// The store type of binary files, which are read and written as a whole.
public let NSBinaryStoreType = "Binary"
/// The store type of rows in memory, which are gone with their coordinator.
public let NSInMemoryStoreType = "InMemory"
/// The store type of XML files, which are read and written as a whole.
public let NSXMLStoreType = "XML"

// MARK: Options

/// Bool: never write to the store.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Number: seconds to wait for a store that another connection has locked, before an operation fails.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Dictionary: SQLite pragma → value, both strings.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Bool: run ANALYZE when the store is added.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Bool: run VACUUM when the store is added.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Bool: open the store even where the model's version hashes differ.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Bool: migrate a store of another version when it is added.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Bool: infer the mapping of such a migration.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Bool: destroy or replace a store although a process holds a lock on it.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Bool: keep a history of all transactions in the store.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Bool: post `.NSPersistentStoreRemoteChange` for every write to the store, of any process.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Set of classes: those that values in a binary store may have. Binary stores here hold no values of a program's own classes but by
/// its transformers, so that it does not matter.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Bool: whether a binary store may hold values of any class. As above, it does not matter.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "_NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Number: how many connections a store may have. Taken, and left alone: a connection for each reader beside the writer's.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// The protection of the store's file on devices that know of such. Taken, and left alone.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Bool: check XML stores against their document type. Taken, and left alone: they are always checked as they are read.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Number: the earliest system that shall read the store. Taken, and left alone.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

// MARK: Metadata

/// Text: the checksum of the version hashes of a store's model.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// String: the type of the store.
public let NSStoreTypeKey = "NSStoreType"
/// String: the UUID of the store.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Dictionary: entity name → version hash.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// Array or set: the version identifiers of the model.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// Bool: put off what a lightweight migration can put off, which are the costs that grow with the store and that no fetch
/// sees: tables and columns that nothing reads any more, and fetch indexes. The same key stands in the store's metadata as
/// long as anything waits: see `NSPersistentStoreCoordinator.finishDeferredLightweightMigration()`.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// The ``NSStagedMigrationManager`` that brings the store to the present version of its model.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
