import Foundation

/// One transaction of a store's history: what one save, of any process, changed. Never changes once a request has returned
/// it: safe on any thread.
// SAFETY: immutable once a request has returned it: the reader alone sets `changes` before that.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    /// When the transaction was committed, by the clock of the machine that did.
    public let timestamp: Date
    /// The changes, oldest first; `nil` when only transactions were asked for.
    open internal(set) var changes: [NSPersistentHistoryChange]?
    /// The number of the transaction in its store's history.
    public let transactionNumber: Int64
    /// The UUID of the store.
    public let storeID: String
    /// The bundle that saved; empty where the writer did not say.
    public let bundleID: String
    /// The process that saved; empty where the writer did not say.
    public let processID: String
    /// The `name` of the context that saved.
    public let contextName: String?
    /// The `transactionAuthor` of the context that saved.
    public let author: String?
    /// The role of a database server that saved, as the server knows it; `nil` in a file, and in transactions of a store on a
    /// server that was made by an older version. An addition to Apple's API.
    public let role: String?
    /// The address that it came from, as the server knows it; `[local]` for a socket. An addition to Apple's API.
    public let host: String?
    /// The place in the history right after this transaction.
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

    /// A notification of the form of did-save-object-IDs with the IDs in ``changes``, for
    /// `mergeChanges(fromContextDidSave:)`.
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

/// What was done to an object in a transaction.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The row was inserted.
    case insert = 0
    /// The row was changed.
    case update = 1
    /// The row was deleted.
    case delete = 2
}

/// One change of one object in a transaction of a store's history. Never changes once a request has returned it: safe on any
/// thread.
// SAFETY: immutable once a request has returned it.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    /// The number of the change in its store's history.
    public let changeID: Int64
    /// The object that changed.
    public let changedObjectID: NSManagedObjectID
    /// Whether the object was inserted, updated or deleted.
    public let changeType: NSPersistentHistoryChangeType
    /// The values that a deleted object had in the attributes that its model preserves, by name; `nil` for other
    /// changes, and without such values.
    public let tombstone: [AnyHashable: Any]?
    /// The transaction to which the change belongs. Not retained, but where changes were asked for without transactions.
    open internal(set) weak var transaction: NSPersistentHistoryTransaction?
    /// Holds the transaction where changes are given without it.
    private var keptTransaction: NSPersistentHistoryTransaction?
    /// The properties of an updated object that changed, as far as the writer noted them; `nil` for other changes.
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

    /// Holds the transaction from now on, which then must not hold the change.
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
