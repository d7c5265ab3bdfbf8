import Foundation

/// One step of a staged migration. Abstract: use one of the two subclasses. Stages are configured before the
/// migration begins, and then used by the migrating thread.
// SAFETY: configured before the migration begins, then used by the migrating thread only.
open class NSMigrationStage: NSObject, @unchecked Sendable {
    /// A name for messages.
    open var label: String!

    override init() { super.init() }
}

/// A step without handlers: each version is inferred from the previous one. Configured before the migration begins,
/// and then used by the migrating thread.
// SAFETY: configured before the migration begins, then used by the migrating thread only.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// The checksums of the versions, oldest first.
    open private(set) var versionChecksums: [String]

    /// Creates a stage through the versions with these checksums.
    ///
    /// - Parameter checksums: the checksums of the versions, oldest first.
    public init(_ checksums: [String]) {
        versionChecksums = checksums
        super.init()
    }
}

/// A step between two versions, with handlers before and after it. Configured before the migration begins, and then
/// used by the migrating thread, which calls the handlers.
// SAFETY: configured before the migration begins, then used by the migrating thread only.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// The store's version before the stage.
    open private(set) var currentModel: NSManagedObjectModelReference
    /// The store's version after the stage.
    open private(set) var nextModel: NSManagedObjectModelReference

    /// Called while the store has the current version. The manager's `container` opens it.
    @preconcurrency
    open var willMigrateHandler: (@Sendable (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Called after the store was migrated to the next version. The manager's `container` opens it. If the handler
    /// throws, or the process ends before it returns, the store is not opened. The next attempt starts with this
    /// handler, even if the next version is the last.
    @preconcurrency
    open var didMigrateHandler: (@Sendable (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// Creates a stage from `currentModel` to `nextModel`, without handlers.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}
