import Foundation

/// Computes the value of one property of a destination entity in a migration.
///
/// Used by one thread at a time, like its mapping model.
open class NSPropertyMapping: NSObject {
    /// The name of the property in the destination entity.
    open var name: String?
    /// The expression for the value. If `nil`, an attribute keeps its default and a relationship stays empty.
    ///
    /// The expression may use `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and
    /// `$entityPolicy`. `FUNCTION($manager, …)` calls the manager methods that Apple's mapping models use, and
    /// `FUNCTION($entityPolicy, …)` calls ``NSEntityMigrationPolicy/value(ofFunction:arguments:)``.
    open var valueExpression: NSExpression?
    /// Data of the program that made the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Two property mappings are equal if their names, expressions and user info are.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return self === other
            || name == other.name && valueExpression == other.valueExpression
                && userInfo as NSDictionary? == other.userInfo as NSDictionary?
    }
    open override var hash: Int { name.hashValue }

    open override var description: String {
        "<NSPropertyMapping> \(name ?? "(null)") <- \(valueExpression?.description ?? "(null)")"
    }
}
