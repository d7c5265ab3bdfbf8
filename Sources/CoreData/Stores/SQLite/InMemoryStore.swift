import Foundation
import SQLiteAccess

/// A store in memory, which is lost with its coordinator.
///
/// It is an SQLite database without a file, so that predicates, sorts, constraints and batches behave as in a store on
/// disk. Its URL is only a name: nothing is read or written there.
// SAFETY: used under the coordinator's lock only.
class InMemoryStore: SQLiteStore, @unchecked Sendable {
    override var type: String { NSInMemoryStoreType }

    override var databaseURL: URL? { .memoryPlace }

    override func loadMetadata() throws {
        try super.loadMetadata()
        metadata[NSStoreTypeKey] = NSInMemoryStoreType
    }

    override func makeSession(_ connection: Connection, _ creation: StoreCreation) throws -> SQLiteSession {
        let session = try super.makeSession(connection, creation)
        session.layout.archivesWithoutTransformer = true
        return session
    }

    /// Changes the URL only.
    override func reconnect(to newURL: URL) throws { url = newURL }

    // MARK: Without a coordinator

    /// Always throws: a store in memory has no metadata outside its coordinator.
    ///
    /// - Throws: 260, since nothing exists outside a coordinator.
    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { throw isNowhere(url) }

    /// - Throws: 260, since nothing exists outside a coordinator.
    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw isNowhere(url)
    }

    override class func cachedModelData(at url: URL, options: [AnyHashable: Any]?) throws -> Data? {
        throw isNowhere(url)
    }

    override class func inferredModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        throw isNowhere(url)
    }

    /// Does nothing: a file at the URL does not belong to the store.
    override class func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws {}

    override class func removeFiles(at url: URL) {}

    override class var copiesFiles: Bool { false }

    /// - Throws: 260, since nothing exists outside a coordinator.
    override class func replaceStore(
        at destination: URL, options: [AnyHashable: Any]?, with source: URL, options sourceOptions: [AnyHashable: Any]?
    ) throws { throw isNowhere(source) }

    private static func isNowhere(_ url: URL) -> any Error {
        CoreDataError.make(
            260, "Cannot find the in-memory store \(url.path): it exists only in the coordinator that it was added to.",
            userInfo: [NSFilePathErrorKey: url.path])
    }
}
