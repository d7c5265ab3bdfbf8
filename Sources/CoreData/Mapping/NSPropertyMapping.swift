import Foundation

/// Says how one property of a destination entity gets its value in a migration.
///
/// Used by one thread at a time, as the mapping model that it is in.
open class NSPropertyMapping: NSObject {
    /// The name of the property in the destination entity.
    open var name: String?
    /// What gives the value; `nil` leaves an attribute at its default and a relationship empty.
    ///
    /// The expression sees `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`.
    /// `FUNCTION($manager, …)` calls the methods of the manager that Apple's mapping models use, and
    /// `FUNCTION($entityPolicy, …)` calls ``NSEntityMigrationPolicy/value(ofFunction:arguments:)``.
    open var valueExpression: NSExpression?
    /// What belongs to the program that made the mapping.
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
