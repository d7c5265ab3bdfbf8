import Foundation

/// A connection with an open read transaction: the store as it was when that began.
// SAFETY: immutable; the connection is used under the coordinator's lock, or by one reader at a time.
final class ServerSnapshot: @unchecked Sendable {
    let connection: any ServerConnection

    init(_ connection: any ServerConnection) { self.connection = connection }
}

extension ServerStore: SnapshotReading {
    func makeSnapshot() throws -> AnyObject? {
        let (_, opening) = try open()
        let connection = try opening.connect(.reading)
        return try opening.errors.translating(.reading) {
            // The first statement fixes what is seen.
            _ = try connection.run([
                ServerStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), ServerStatement("SELECT 1"),
            ])
            return ServerSnapshot(connection)
        }
    }

    var snapshotInUse: AnyObject? {
        get { snapshot }
        set { snapshot = newValue as? ServerSnapshot }
    }
}

// MARK: - Reading beside the writer

extension ServerStore: BesideReading {
    func makeReader() throws -> NSPersistentStore? {
        let view = try makeSnapshot() as? ServerSnapshot
        let reader = ServerStore(
            persistentStoreCoordinator: nil, configurationName: configurationName, at: placeURL, options: options)
        reader.origin = face
        reader.opening = opening
        reader.session = session
        reader.isReadOnly = true
        reader.snapshot = view
        return reader
    }

    func cancelling<Result>(when isCancelled: @escaping () -> Bool, _ body: () throws -> Result) throws -> Result {
        guard let snapshot else { return try body() }
        return try snapshot.connection.cancelling(when: isCancelled, body)
    }
}
