import CoreData
import Foundation

/// A connection with an open read transaction: the store as it was when the transaction began. The connection is
/// returned to its pool with the last reference.
// SAFETY: immutable; the connection is used under the coordinator's lock, or by one reader at a time.
final class ServerSnapshot: @unchecked Sendable {
    let connection: any ServerConnection
    private let readers: ServerReaders

    init(_ connection: any ServerConnection, of readers: ServerReaders) {
        self.connection = connection
        self.readers = readers
    }

    deinit { readers.giveBack(connection) }
}

extension ServerEngine: SnapshotReading {
    package func makeSnapshot() throws -> AnyObject? {
        let (session, opening) = try open()
        return try opening.errors.translating(.reading) {
            // The first statement determines the visible state.
            let connection = try session.readers.take(running: [
                ServerStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), ServerStatement("SELECT 1"),
            ])
            return ServerSnapshot(connection, of: session.readers)
        }
    }

    package func reading<Result>(from snapshot: AnyObject?, _ body: () throws -> Result) rethrows -> Result {
        let before = self.snapshot
        self.snapshot = snapshot as? ServerSnapshot
        defer { self.snapshot = before }
        return try body()
    }
}

// MARK: - Background reading

extension ServerEngine: BackgroundReading {
    package func makeReader() throws -> (any RowStore)? {
        let view = try makeSnapshot() as? ServerSnapshot
        return EngineStore(
            reading: try store, at: placeURL, with: ServerEngine(beside: self, showing: view))
    }

    package func cancelling<Result>(
        when isCancelled: @escaping (_ scannedRows: Int) -> Bool, _ body: () throws -> Result
    ) throws -> Result {
        guard let snapshot else { return try body() }
        return try snapshot.connection.cancelling(when: { isCancelled(0) }, body)
    }
}
