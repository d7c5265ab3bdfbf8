import CoreData

/// The records of an entity at an earlier time, reconstructed from the commits since then.
///
/// Design note. A history contains which records were inserted, changed and deleted, and which properties changed. Of
/// earlier values it keeps only those in the tombstones of deleted records, for attributes whose model preserves them.
/// So the records of an earlier time are known exactly; their values are the current ones, those of a tombstone, or
/// unknown.
// SAFETY: immutable after `init`; tombstones contain values of attributes, which nothing changes.
public struct PastRecords: @unchecked Sendable {
    /// A record that existed then and was deleted later.
    public struct Deletion {
        /// The number of the transaction that deleted it.
        public let transaction: Int64
        /// Author of the transaction; `nil` if the history has none.
        public let author: String?
        /// Known values; a `nil` value means that the record had none.
        public let values: [String: Any?]
    }

    /// Records inserted later that still exist.
    public private(set) var inserted: Set<NSManagedObjectID> = []
    /// The deleted records by their former IDs.
    public private(set) var deleted: [NSManagedObjectID: Deletion] = [:]
    /// The existing records that were changed, with the names of the changed properties; without names if the history
    /// has none.
    public private(set) var changed: [NSManagedObjectID: Set<String>] = [:]
    /// Known values of all records deleted since, including those inserted later.
    public private(set) var tombstones: [NSManagedObjectID: [String: Any?]] = [:]

    /// The records immediately before the first of some transactions.
    ///
    /// - Parameters:
    ///   - transactions: all transactions of the store's history from then on, oldest first.
    ///   - entity: the entity of the records, including subentities.
    public init(before transactions: [NSPersistentHistoryTransaction], of entity: NSEntityDescription) {
        for transaction in transactions {
            for change in transaction.changes ?? [] where change.changedObjectID.entity.isKindOf(entity: entity) {
                note(change, of: transaction)
            }
        }
    }

    private mutating func note(_ change: NSPersistentHistoryChange, of transaction: NSPersistentHistoryTransaction) {
        let id = change.changedObjectID
        switch change.changeType {
        case .insert:
            // A record inserted again under its old ID existed before, with unknown values.
            if deleted.removeValue(forKey: id) != nil { changed[id] = [] } else { inserted.insert(id) }
        case .update:
            guard !inserted.contains(id) else { return }
            changed[id, default: []].formUnion((change.updatedProperties ?? []).map(\.name))
        case .delete:
            changed[id] = nil
            var values: [String: Any?] = [:]
            for (key, value) in change.tombstone ?? [:] {
                if let key = key as? String { values[key] = .some(value is NSNull ? nil : value) }
            }
            tombstones[id] = values
            guard inserted.remove(id) == nil else { return }
            deleted[id] = Deletion(
                transaction: transaction.transactionNumber, author: transaction.author, values: values)
        @unknown default: break
        }
    }
}

extension NSManagedObject {
    /// Sets the known values on a record that represents a deleted one, and removes all others.
    public func take(_ known: [String: Any?]) {
        for (name, attribute) in entity.attributesByName
        where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
            setValue(known[name] ?? nil, forKey: name)
        }
    }
}
