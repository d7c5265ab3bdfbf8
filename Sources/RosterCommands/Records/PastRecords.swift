import CoreData

/// Which records of an entity there were at an earlier time, told from what was committed since.
///
/// Design note. A history says which records came, changed and went, and which properties changed; of earlier values it keeps
/// only what the tombstones of deleted records have, of attributes whose model preserves them. So the records of an earlier
/// time are known exactly, and their values are those of today, or of a tombstone, or unknown.
// SAFETY: immutable once made; the values of tombstones are those of attributes, which nothing changes.
public struct PastRecords: @unchecked Sendable {
    /// A record that was there then and is not any more.
    public struct Deletion {
        /// The number of the transaction that deleted it.
        public let transaction: Int64
        /// Who committed that; `nil` where the history does not say.
        public let author: String?
        /// Known values; a `nil` value means that the record had none.
        public let values: [String: Any?]
    }

    /// Records inserted later that still exist.
    public private(set) var inserted: Set<NSManagedObjectID> = []
    /// The records that are gone, by the IDs that they had.
    public private(set) var deleted: [NSManagedObjectID: Deletion] = [:]
    /// The records that are there still and were changed, with the names of the properties that changed; without names where
    /// the history does not say which.
    public private(set) var changed: [NSManagedObjectID: Set<String>] = [:]
    /// Known values of all records deleted since, including those inserted later.
    public private(set) var tombstones: [NSManagedObjectID: [String: Any?]] = [:]

    /// The records just before the first of some transactions.
    ///
    /// - Parameters:
    ///   - transactions: all that the store's history has from then on, oldest first.
    ///   - entity: of which entity, with those that inherit from it.
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
            // One that comes back under its old ID was there, with values that are not known.
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
    /// Gives a record that stands for a deleted one what is known of its values, and none in the place of those that are not.
    public func take(_ known: [String: Any?]) {
        for (name, attribute) in entity.attributesByName
        where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
            setValue(known[name] ?? nil, forKey: name)
        }
    }
}
