// Strings of store types, options and metadata. They are Apple's if known, as stores and logs contain them.

/// The store type of SQLite databases with Apple's schema.
public let NSSQLiteStoreType = "SQLite"
/// The store type of binary files, which are read and written as a whole.
public let NSBinaryStoreType = "Binary"
/// The store type of rows in memory, which are lost with their coordinator.
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
/// Bool: open the store even if the model's version hashes differ.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Bool: migrate a store of another version when it is added.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Bool: infer the mapping of an automatic migration.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Bool: destroy or replace a store even if a process has locked it.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Bool: keep a history of all transactions in the store.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Bool: post `.NSPersistentStoreRemoteChange` for every write to the store, of any process.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Set of classes that values in a binary store may have. It has no effect: binary stores here contain a program's own
/// classes only as the output of its transformers.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Bool: allow values of any class in a binary store. It has no effect, for the same reason.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "_NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Number: the maximum number of connections. Accepted and ignored: the writer and each reader have one.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// The protection class of the store's file on Apple's devices. Accepted and ignored.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Bool: validate XML stores against their document type. Accepted and ignored: reading always validates.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Number: the earliest system version that must be able to read the store. Accepted and ignored.
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

/// Bool: defer the parts of a lightweight migration whose cost grows with the store and that no fetch depends on:
/// dropping unused tables and columns, and building fetch indexes. The store's metadata contains the same key while
/// work remains: see `NSPersistentStoreCoordinator.finishDeferredLightweightMigration()`.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// The ``NSStagedMigrationManager`` that migrates the store to the current version of its model.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
