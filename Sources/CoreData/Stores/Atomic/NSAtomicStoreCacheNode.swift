import Foundation

/// One row of an atomic store, as the store holds it in memory.
///
/// Used under the coordinator's lock, as its store is.
// SAFETY: used under the coordinator's lock only.
open class NSAtomicStoreCacheNode: NSObject, @unchecked Sendable {
    /// The ID of the row's object.
    public let objectID: NSManagedObjectID

    /// The values by the names of their properties: those of attributes as objects have them, a cache node for a to-one
    /// relationship, and a set of nodes, or where the relationship is ordered a list of them, for a to-many relationship.
    /// `nil` until the first value is set.
    open var propertyCache: NSMutableDictionary?

    /// A node without values for the row of that ID.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// The value of a property; `nil` where none is set. By default, what ``propertyCache`` holds. Called under
    /// the coordinator's lock.
    open func value(forKey key: String) -> Any? {
        guard let value = propertyCache?[key], !(value is NSNull) else { return nil }
        return value
    }

    /// Sets the value of a property; `nil` takes it out. By default, in ``propertyCache``. Called under the
    /// coordinator's lock.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let value else {
            propertyCache?.removeObject(forKey: key)
            return
        }
        if propertyCache == nil { propertyCache = NSMutableDictionary() }
        propertyCache?[key] = value
    }
}
