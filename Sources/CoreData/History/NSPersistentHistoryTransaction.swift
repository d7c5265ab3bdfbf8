import Foundation

/// One transaction of a store's history: the changes of one save by any process. Immutable once a request has
/// returned it, and safe on any thread.
// SAFETY: immutable once a request has returned it: only the reader sets `changes` before that.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    /// The time of the commit, by the clock of the committing machine.
    public let timestamp: Date
    /// The changes, oldest first; `nil` if only transactions were requested.
    open internal(set) var changes: [NSPersistentHistoryChange]?
    /// The number of the transaction in its store's history.
    public let transactionNumber: Int64
    /// The UUID of the store.
    public let storeID: String
    /// The bundle that saved; empty if not recorded.
    public let bundleID: String
    /// The process that saved; empty if not recorded.
    public let processID: String
    /// The `name` of the context that saved.
    public let contextName: String?
    /// The `transactionAuthor` of the context that saved.
    public let author: String?
    /// The role that saved, as the database server knows it; `nil` in a file, and in a server's store created by an
    /// older version. An addition to Apple's API.
    public let role: String?
    /// The client's address, as the server knows it; `[local]` for a socket. An addition to Apple's API.
    public let host: String?
    /// The position in the history after this transaction.
    public let token: NSPersistentHistoryToken

    init(_ transaction: StoreTransaction, storeID: String, token: NSPersistentHistoryToken) {
        timestamp = transaction.timestamp
        transactionNumber = transaction.number
        self.storeID = storeID
        bundleID = transaction.bundleID ?? ""
        processID = transaction.processID ?? ""
        contextName = transaction.contextName
        author = transaction.author
        role = transaction.role
        host = transaction.host
        self.token = token
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A notification like did-save-object-IDs with the IDs in ``changes``, for `mergeChanges(fromContextDidSave:)`.
    open func objectIDNotification() -> Notification {
        var ids: [NSPersistentHistoryChangeType: Set<NSManagedObjectID>] = [:]
        for change in changes ?? [] { ids[change.changeType, default: []].insert(change.changedObjectID) }
        var info: [AnyHashable: Any] = [:]
        info[NSInsertedObjectIDsKey] = ids[.insert]
        info[NSUpdatedObjectIDsKey] = ids[.update]
        info[NSDeletedObjectIDsKey] = ids[.delete]
        return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: info)
    }
}

/// The kind of a change to an object in a transaction.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The row was inserted.
    case insert = 0
    /// The row was changed.
    case update = 1
    /// The row was deleted.
    case delete = 2
}

/// One change of one object in a transaction of a store's history. Immutable once a request has returned it, and safe
/// on any thread.
// SAFETY: immutable once a request has returned it.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    /// The number of the change in its store's history.
    public let changeID: Int64
    /// The object that changed.
    public let changedObjectID: NSManagedObjectID
    /// The kind of the change.
    public let changeType: NSPersistentHistoryChangeType
    /// The preserved attribute values of a deleted object, by name; `nil` if there are none, and for other changes.
    public let tombstone: [AnyHashable: Any]?
    /// The transaction of the change. Not retained, unless changes were requested without transactions.
    open internal(set) weak var transaction: NSPersistentHistoryTransaction?
    /// Retains the transaction if changes are returned without it.
    private var keptTransaction: NSPersistentHistoryTransaction?
    /// The changed properties of an updated object, as far as recorded; `nil` for other changes.
    public let updatedProperties: Set<NSPropertyDescription>?

    init(_ change: StoreTransaction.Change, id: NSManagedObjectID) {
        changeID = change.number
        changedObjectID = id
        changeType =
            switch change.kind {
            case .insert: .insert
            case .update: .update
            case .delete: .delete
            }
        let properties = id.entity.propertiesByName
        updatedProperties =
            change.kind == .update ? Set(change.changedProperties.compactMap { properties[$0] }) : nil
        tombstone = change.kind == .delete ? Self.values(of: change.tombstone, in: id.entity) : nil
    }

    /// Retains the transaction. To avoid a cycle, the transaction must not retain the change.
    func keepTransaction() { keptTransaction = transaction }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    private static func values(of slots: [String: SlotValue], in entity: NSEntityDescription) -> [AnyHashable: Any]? {
        guard !slots.isEmpty else { return nil }
        var values: [AnyHashable: Any] = [:]
        for (name, slot) in slots {
            let type = entity.attributesByName[name]?.attributeType ?? .undefinedAttributeType
            values[name] = AttributeCoercion.value(slot, type: type) ?? NSNull()
        }
        return values
    }
}
