import Foundation

/// A store: where the rows of a coordinator's objects live. Abstract.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The name of the configuration whose entities the store holds.
    open internal(set) var configurationName: String
    /// The options the store was added with.
    open internal(set) var options: [AnyHashable: Any]?
    open var url: URL?
    /// The UUID of the store, as it stands in the URIs of its object IDs.
    open var identifier: String!
    open var isReadOnly = false
    open var metadata: [String: Any]! = [:]

    public init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        self.persistentStoreCoordinator = root
        self.configurationName = name ?? "PF_DEFAULT_CONFIGURATION_NAME"
        self.url = url
        self.options = options
    }

    open var type: String { "" }
    /// Called while the store is added; throws to refuse it.
    open func loadMetadata() throws {}
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// What context and coordinator ask of the store.
    var operations: any StoreOperations { preconditionFailure("\(Swift.type(of: self)) does not answer to StoreOperations") }
}
