import Foundation

/// One row of an atomic store in memory.
///
/// Used under the coordinator's lock, like its store.
// SAFETY: used under the coordinator's lock only.
open class NSAtomicStoreCacheNode: NSObject, @unchecked Sendable {
    /// The ID of the row's object.
    public let objectID: NSManagedObjectID

    /// The values by property name. Attributes have the values of the object, a to-one relationship has a cache node,
    /// and a to-many relationship a set of nodes, or a list if it is ordered. `nil` until the first value is set.
    open var propertyCache: NSMutableDictionary?

    /// Creates a node without values for the row with that ID.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// Returns the value of a property; `nil` if none is set. By default from ``propertyCache``. Called under the
    /// coordinator's lock.
    open func value(forKey key: String) -> Any? {
        guard let value = propertyCache?[key], !(value is NSNull) else { return nil }
        return value
    }

    /// Sets the value of a property; `nil` removes it. By default in ``propertyCache``. Called under the coordinator's
    /// lock.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let value else {
            propertyCache?.removeObject(forKey: key)
            return
        }
        if propertyCache == nil { propertyCache = NSMutableDictionary() }
        propertyCache?[key] = value
    }
}
