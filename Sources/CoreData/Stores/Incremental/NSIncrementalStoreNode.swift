import Foundation

/// The values of one row of an incremental store. Used under the coordinator's lock, as its store is.
open class NSIncrementalStoreNode: NSObject {
    /// The row's ID.
    public final let objectID: NSManagedObjectID
    /// The version of the row: the store raises it whenever the row changes. Saves compare it.
    public private(set) final var version: UInt64
    private var values: [String: Any] = [:]

    /// A node with the values of the row of an ID.
    ///
    /// - Parameters:
    ///   - objectID: the row's ID.
    ///   - values: the values by the names of attributes and to-one relationships; of a relationship an `NSManagedObjectID`, or
    ///     `NSNull` for none. Names that the entity does not have are left out. An attribute without a value is `nil`; a
    ///     relationship without one is asked for with `newValue(forRelationship:forObjectWith:with:)`.
    ///   - version: the row's version.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.version = version
        super.init()
        update(withValues: values, version: version)
    }

    /// Takes other values, as `init` does.
    open func update(withValues values: [String: Any], version: UInt64) {
        let known = objectID.entity.propertiesByName
        self.values = values.filter { known[$0.key] != nil }
        self.version = version
    }

    /// The value of a property: `NSNull` for a relationship that is known to have no destination, `nil` where the node has no
    /// value.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
