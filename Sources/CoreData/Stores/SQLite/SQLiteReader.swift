import Foundation

/// Reads the rows of another SQLite store as they were when it was made, through a connection of its own.
final class SQLiteReader: SQLiteStore, @unchecked Sendable {
    private let origin: SQLiteStore

    override var face: NSPersistentStore { origin.face }

    override var refusesSaves: Bool { true }

    init(of origin: SQLiteStore, snapshot: AnyObject) {
        self.origin = origin
        super.init(
            persistentStoreCoordinator: nil, configurationName: origin.configurationName,
            at: origin.url ?? .memoryPlace, options: origin.options)
        snapshotInUse = snapshot
    }

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) { preconditionFailure("A reader is made by the store whose rows it reads.") }

    override func objectID(for key: RowKey) -> NSManagedObjectID { origin.objectID(for: key) }
}
