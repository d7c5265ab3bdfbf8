import Foundation

/// Maps the rows of a store to those of its replacement.
// SAFETY: immutable; the new store is used under its coordinator's lock.
final class StoreMove: @unchecked Sendable {
    /// The UUID of the old store.
    let former: String
    let store: any RowStore
    /// The new IDs by the old ones; `nil` if rows kept their keys.
    private let ids: [NSManagedObjectID: NSManagedObjectID]?

    init(from former: NSPersistentStore, to store: any RowStore, ids: [NSManagedObjectID: NSManagedObjectID]? = nil) {
        self.former = former.identifier ?? ""
        self.store = store
        self.ids = ids
    }

    /// The version of all rows in the new store; `nil` if they kept theirs.
    var version: Int64? { ids == nil ? nil : 1 }

    /// The ID of the same row in the new store; `nil` if the row was not in the old store.
    func id(for id: NSManagedObjectID) -> NSManagedObjectID? {
        guard let key = id.rowKey, id.storeIdentifier == former else { return nil }
        return ids.map { $0[id] } ?? store.operations.objectID(for: key)
    }
}
