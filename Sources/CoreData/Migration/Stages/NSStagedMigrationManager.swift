import Foundation

/// Migrates a store through several model versions, stage by stage. Set as the store option
/// `NSPersistentStoreStagedMigrationManagerOptionKey`, and used by the thread that adds, and thereby migrates, the
/// store.
// SAFETY: the stages are immutable; `container` is used by the migrating thread only.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    /// The stages, in order.
    open private(set) var stages: [NSMigrationStage]
    /// The container with the store, for a stage's handlers; `nil` outside of them.
    open internal(set) var container: NSPersistentContainer?

    /// Creates a manager for these stages.
    ///
    /// - Parameter stages: the stages in order of versions. Each begins at the end of the previous one, or at a later
    ///   version that can be inferred from it.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
