import Foundation

/// Migrates a store through several versions of its model, stage by stage. It is given as the store's option
/// `NSPersistentStoreStagedMigrationManagerOptionKey`, and used by the thread that adds the store and so migrates.
// SAFETY: the stages are immutable; `container` is used by the one thread that migrates.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    /// The stages in their order.
    open private(set) var stages: [NSMigrationStage]
    /// The container with the store, for use inside the handlers of a stage; `nil` outside of them.
    open internal(set) var container: NSPersistentContainer?

    /// A manager that goes through some stages.
    ///
    /// - Parameter stages: in the order of the versions: each begins where the one before it ends, or at a later version
    ///   that is reached from there by inference.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
