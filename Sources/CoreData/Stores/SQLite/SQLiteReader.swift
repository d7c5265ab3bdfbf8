import Foundation

/// Reads the rows that another SQLite store had when the reader was created, through a separate connection.
// SAFETY: `origin` is set before the reader is used, and its connection is used by one thread at a time.
final class SQLiteReader: SQLiteStore, @unchecked Sendable {
    /// Set once, before the reader is used.
    private var origin: SQLiteStore?

    override var face: NSPersistentStore { origin?.face ?? self }

    override var refusesSaves: Bool { true }

    static func make(for origin: SQLiteStore, _ snapshot: SQLiteSnapshot) -> SQLiteReader {
        let reader = SQLiteReader(
            persistentStoreCoordinator: nil, configurationName: origin.configurationName,
            at: origin.url ?? .memoryPlace, options: origin.options)
        reader.origin = origin
        reader.snapshot = snapshot
        return reader
    }

    override func objectID(for key: RowKey) -> NSManagedObjectID {
        origin?.objectID(for: key) ?? super.objectID(for: key)
    }
}
