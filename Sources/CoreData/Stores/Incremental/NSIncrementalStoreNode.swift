import Foundation

/// The values of one row of an incremental store. Used under the coordinator's lock, like its store.
open class NSIncrementalStoreNode: NSObject {
    /// The row's ID.
    public final let objectID: NSManagedObjectID
    /// The version of the row, which the store increases whenever the row changes. Saves compare it.
    public private(set) final var version: UInt64
    private var values: [String: Any] = [:]

    /// Creates a node with the values of a row.
    ///
    /// - Parameters:
    ///   - objectID: the row's ID.
    ///   - values: values by the names of attributes and to-one relationships; for a relationship an
    ///     `NSManagedObjectID`, or `NSNull` for no destination. Unknown names are ignored. A missing attribute is
    ///     `nil`; a missing relationship is read with `newValue(forRelationship:forObjectWith:with:)`.
    ///   - version: the row's version.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.version = version
        super.init()
        update(withValues: values, version: version)
    }

    /// Replaces the values and the version.
    open func update(withValues values: [String: Any], version: UInt64) {
        let known = objectID.entity.propertiesByName
        self.values = values.filter { known[$0.key] != nil }
        self.version = version
    }

    /// Returns the value of a property: `NSNull` for a relationship known to be empty, `nil` if the node has no value.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
