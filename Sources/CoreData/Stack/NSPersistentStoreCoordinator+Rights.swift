import Foundation

extension NSPersistentStoreCoordinator {
    /// SQL statements that grant a database server's role the minimal rights to read `store`, or also to save to it.
    /// An addition to Apple's API. May be called on any queue.
    ///
    /// - Parameters:
    ///   - role: the name of the role; `nil` for psql's variable `role`.
    ///   - readOnly: True if the role does not save.
    /// - Throws: 134060 for a store that is not on a server, or of another coordinator.
    public func grantStatements(
        for role: String?, in store: NSPersistentStore, readOnly: Bool = false
    ) throws -> [String] {
        try withLock {
            guard store.persistentStoreCoordinator === self,
                let granting = (store as? any RowStore)?.operations as? any GrantingStore
            else {
                throw CoreDataError.make(
                    134060, "The store \(store.placeName) is a file, which has no roles. Use file permissions.")
            }
            return try granting.grants(to: role, readOnly: readOnly)
        }
    }
}
