import Foundation

// Additions to Apple's API for stores whose file other programs move, replace or delete while it is open.
extension NSPersistentStoreCoordinator {
    /// Posted once when another program has moved, deleted, replaced or overwritten the file of an open store. The
    /// store cannot be written until the file is back, or `setURL(_:for:)` sets its new URL. Also posted once when
    /// another program has migrated, replaced or removed the tables of a store on a server (134100): remove the store
    /// and add it again. An addition to Apple's API.
    ///
    /// The object is the coordinator. The user info has the error under `NSUnderlyingErrorKey`,
    /// `NSPersistentStoreURLKey` and `NSStoreUUIDKey`. Posted on any thread, for stores added with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
    public static let storeFileDidVanishNotification = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoreFileDidVanishNotification")

    /// Checks that the file at the URL of `store`, with its log, is the open one. Each save checks this before it
    /// writes. An addition to Apple's API. May be called on any queue.
    ///
    /// - Throws: 134030 if another program moved, deleted, replaced or overwrote the file, 260 if the store is
    ///   read-only; 134100 if the tables on a server were migrated or removed; 134060 for a store of another
    ///   coordinator.
    public func checkFile(of store: NSPersistentStore) throws {
        try withLock { try own(store).operations.checkFile() }
    }

    /// The current URL of the file of `store` after a move while it was open: pass it to `setURL(_:for:)` to continue
    /// with the file. `nil` if the file was deleted. An addition to Apple's API. May be called on any queue.
    public func fileURL(of store: NSPersistentStore) -> URL? {
        withLock { rowStores(among: [store]).first?.operations.fileURL }
    }

    /// Copies an open SQLite store with its external data to `url`, even if its file was moved or deleted. Nothing
    /// may exist at `url`. The copy has the same UUID, so that `setURL(_:for:)` can continue with it. An addition to
    /// Apple's API. May be called on any queue; the coordinator's lock is held until the copy is written.
    ///
    /// - Throws: 516 if something exists at `url`; 134060 for stores of other types or another coordinator; an error
    ///   such as 134080, 513 or 640 if the copy cannot be written. Then `url` remains empty.
    public func copyContents(of store: NSPersistentStore, to url: URL) throws {
        try withLock {
            let store = try own(store)
            guard !FileManager.default.fileExists(atPath: url.path) else {
                throw CoreDataError.make(
                    516, "Cannot copy the store \(store.placeName) to \(url.path): the file already exists.",
                    userInfo: [NSFilePathErrorKey: url.path])
            }
            do { try store.operations.copyOpenContents(to: url) } catch {
                Swift.type(of: store).removeFiles(at: url)
                throw error
            }
        }
    }

    private func own(_ store: NSPersistentStore) throws -> any RowStore {
        if let own = rowStores(among: [store]).first { return own }
        throw CoreDataError.make(134060, "This coordinator does not have the store \(store.placeName).")
    }
}
