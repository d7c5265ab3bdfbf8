import Foundation

/// One step of a staged migration: one of its two subclasses. Set up before the migration begins, and then used by the thread
/// that migrates, as the subclasses are.
// SAFETY: set up before the migration begins, and used by the one thread that migrates.
open class NSMigrationStage: NSObject, @unchecked Sendable {
    /// What people call the stage; errors name it.
    open var label: String!

    override init() { super.init() }
}

/// A step that needs no help: each of the versions is reached from the one before by inference. Set up before the migration
/// begins, and then used by the thread that migrates.
// SAFETY: set up before the migration begins, and used by the one thread that migrates.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// The checksums of the versions, oldest first.
    open private(set) var versionChecksums: [String]

    /// A stage through the versions with some checksums.
    ///
    /// - Parameter checksums: of the versions, oldest first.
    public init(_ checksums: [String]) {
        versionChecksums = checksums
        super.init()
    }
}

/// A step from one version to the next with work of the program before and after it. Set up before the migration begins, and
/// then used by the thread that migrates, which calls the handlers.
// SAFETY: set up before the migration begins, and used by the one thread that migrates.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// The version that the store has before the stage.
    open private(set) var currentModel: NSManagedObjectModelReference
    /// The version that the store has after the stage.
    open private(set) var nextModel: NSManagedObjectModelReference

    /// Called while the store has the current version; `container` of the manager opens it.
    @preconcurrency
    open var willMigrateHandler: (@Sendable (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Called once the store has the next version; `container` of the manager opens it. Where it throws, or the process ends
    /// before it is done, the store is not opened, and the next attempt begins with it, also where the next version is the last.
    @preconcurrency
    open var didMigrateHandler: (@Sendable (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// A stage from `currentModel` to `nextModel`, without handlers.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}
