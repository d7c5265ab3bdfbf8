import Foundation

// Stores whose file other programs move, replace or delete while it is open. Additions to Apple's API.
extension NSPersistentStoreCoordinator {
    /// Posted once when the file of a store is found to be moved, deleted, replaced or written over by another program while
    /// it is open: nothing can be written to the store until it is back, or `setURL(_:for:)` says where it goes on. An addition
    /// to Apple's API. Also posted once when the tables of a store on a server are found to be migrated, replaced or removed by
    /// another program (134100): remove the store and add it again.
    ///
    /// The object is the coordinator. Carries the error under `NSUnderlyingErrorKey`, `NSPersistentStoreURLKey` and
    /// `NSStoreUUIDKey`. Posted on any thread, for stores added with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
    public static let storeFileDidVanishNotification = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoreFileDidVanishNotification")

    /// Makes sure that the file at the URL of `store` is the one that is open, and its log beside it. Each save does so before
    /// it writes. An addition to Apple's API. May be called on any queue.
    ///
    /// - Throws: 134030 where other programs moved, deleted, replaced or wrote over it, 260 where the store is read-only; 134100
    ///   where they migrated or removed the tables on a server; 134060 for a store of another coordinator.
    public func checkFile(of store: NSPersistentStore) throws {
        try withLock { try own(store).operations.checkFile() }
    }

    /// Where the file of `store` stands now, if it was moved while it was open: what to give `setURL(_:for:)` to go on with it.
    /// `nil` where it was deleted. An addition to Apple's API. May be called on any queue.
    public func fileURL(of store: NSPersistentStore) -> URL? {
        withLock { rowStores(among: [store]).first?.operations.fileURL }
    }

    /// Copies an open SQLite store to `url`, where nothing stands, with its external data, though its file was moved or
    /// deleted. The copy has the same UUID, so that `setURL(_:for:)` can go on with it. An addition to Apple's API. May be
    /// called on any queue; the coordinator's lock is held until the copy is written.
    ///
    /// - Throws: 516 where something stands there; 134060 for stores of other types or another coordinator; an error such as
    ///   134080, 513 or 640 where the copy cannot be written: then nothing stands there.
    public func copyContents(of store: NSPersistentStore, to url: URL) throws {
        try withLock {
            let store = try own(store)
            guard !FileManager.default.fileExists(atPath: url.path) else {
                throw CoreDataError.make(
                    516, "Cannot copy the store \(store.placeName) to \(url.path): a file stands there already.",
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
        throw CoreDataError.make(134060, "The store \(store.placeName) is not of this coordinator.")
    }
}
