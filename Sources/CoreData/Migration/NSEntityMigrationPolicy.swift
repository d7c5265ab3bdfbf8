import Foundation

/// Migrates the objects of one entity mapping. A subclass overrides the steps that it changes, and calls `super` for
/// the default step.
///
/// A mapping model names the subclass. ``register(_:forName:)`` registers a name that the runtime cannot look up. All
/// steps run on the queue of both contexts of the manager.
open class NSEntityMigrationPolicy: NSObject {
    public required override init() { super.init() }

    /// Called before the first object of the mapping. Does nothing by default.
    ///
    /// - Throws: an error that ends the migration. `migrateStore` rethrows the errors of all steps.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Creates the destination object of a source object, with the values of the attribute mappings, and associates
    /// the two. A subclass may create any number of objects, and must associate each.
    ///
    /// - Throws: the error of a mapping expression; it ends the migration.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.run.steps.createInstance(from: sInstance, in: mapping, policy: self)
    }

    /// Called after all objects of the mapping were created. Does nothing by default.
    ///
    /// - Throws: an error that ends the migration.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of a destination object by the relationship mappings. Called after the objects of all
    /// mappings were created.
    ///
    /// - Throws: the error of a mapping expression; it ends the migration.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.run.steps.createRelationships(of: dInstance, in: mapping, policy: self)
    }

    /// Called after the relationships of all objects of the mapping were set. Does nothing by default.
    ///
    /// - Throws: an error that ends the migration.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called before the usual validation of the destination's objects. Does nothing by default.
    ///
    /// - Throws: an error that ends the migration.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called after the last step of the mapping. Does nothing by default.
    ///
    /// - Throws: an error that ends the migration.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// The value of `FUNCTION($entityPolicy, "selector", …)` in a value expression.
    ///
    /// Apple's framework calls the method with that selector. Without selectors on Linux, a subclass overrides this
    /// member and dispatches on the name. An addition to Apple's API.
    ///
    /// - Parameters:
    ///   - selector: the name in the mapping, such as `fullNameForFirst:last:`.
    ///   - arguments: the values of the other arguments.
    /// - Throws: 134170 if the policy does not have the function. This class has none and always throws it.
    open func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw CoreDataError.make(
            134170,
            "The migration policy \(type(of: self)) has no function \(selector): override value(ofFunction:arguments:)."
        )
    }

    /// Registers a policy under its name in mapping models. Required only if that is not the class name with its
    /// module, or that of a class in the program's own module. Safe on any thread. An addition to Apple's API.
    public static func register(_ policyClass: NSEntityMigrationPolicy.Type, forName name: String) {
        MigrationPolicies.register(policyClass, forName: name)
    }
}
