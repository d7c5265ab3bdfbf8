import Foundation

/// Migrates the objects of one entity mapping. A subclass overrides the steps that it does otherwise and calls `super` where
/// it wants the usual step too.
///
/// A mapping model names the subclass; ``register(_:forName:)`` makes one known under a name that the runtime cannot look up.
/// All steps run on the queue of both contexts of the manager.
open class NSEntityMigrationPolicy: NSObject {
    public required override init() { super.init() }

    /// Called before the first object of the mapping. Does nothing by itself.
    ///
    /// - Throws: what ends the migration, as all steps do: it is what `migrateStore` throws.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what a source object becomes: an object of the destination entity with the values of the attribute mappings,
    /// associated with the source object. A subclass may make none, one or several, and associates each.
    ///
    /// - Throws: what an expression of the mapping throws; it ends the migration.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.run.steps.createInstance(from: sInstance, in: mapping, policy: self)
    }

    /// Called when all objects of the mapping are made. Does nothing by itself.
    ///
    /// - Throws: what ends the migration.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Fills the relationships of a destination object by the relationship mappings. Called once the objects of all
    /// mappings are made.
    ///
    /// - Throws: what an expression of the mapping throws; it ends the migration.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.run.steps.createRelationships(of: dInstance, in: mapping, policy: self)
    }

    /// Called when the relationships of all objects of the mapping are filled. Does nothing by itself.
    ///
    /// - Throws: what ends the migration.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called before the usual validation of the destination's objects. Does nothing by itself.
    ///
    /// - Throws: what ends the migration.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called after the last step of the mapping. Does nothing by itself.
    ///
    /// - Throws: what ends the migration.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// The value of `FUNCTION($entityPolicy, "selector", …)` in a value expression.
    ///
    /// Apple's framework calls the method with that selector; there are no selectors here, so a subclass overrides this
    /// member and answers by the name. An addition to Apple's interface.
    ///
    /// - Parameters:
    ///   - selector: the name as the mapping has it, such as `fullNameForFirst:last:`.
    ///   - arguments: the values of the other arguments.
    /// - Throws: 134170 where the policy has no such function, which is all that this class itself does.
    open func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw CoreDataError.make(
            134170,
            "The migration policy \(type(of: self)) has no function \(selector): override value(ofFunction:arguments:)."
        )
    }

    /// Makes a policy known under the name that mapping models give it. Needed only where the name is not that of the class
    /// with its module, or of a class of the program's own module. Safe on any thread. An addition to Apple's interface.
    public static func register(_ policyClass: NSEntityMigrationPolicy.Type, forName name: String) {
        MigrationPolicies.register(policyClass, forName: name)
    }
}
