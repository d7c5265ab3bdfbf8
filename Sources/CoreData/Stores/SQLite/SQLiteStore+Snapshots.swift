import Foundation
import SQLiteAccess

/// A connection with an open read transaction: the store as it was when the transaction began.
// SAFETY: immutable; the session is used under the coordinator's lock, or by one reader at a time.
final class SQLiteSnapshot: @unchecked Sendable {
    let session: SQLiteSession

    init(_ session: SQLiteSession) { self.session = session }

    /// The last holder of the snapshot is the only user of its connection.
    deinit { session.connection.close() }
}

extension SQLiteStore: SnapshotReading {
    /// Returns `nil` if not in WAL mode, where an open read transaction blocks all writers.
    ///
    /// For a store in memory the snapshot is a copy, whose cost grows with the store.
    func makeSnapshot() throws -> AnyObject? {
        try withSession { session in
            if try file().isInMemory { return try copyInMemory(of: session) }
            guard case .text(let mode)? = try session.connection.pragma("journal_mode"), mode.lowercased() == "wal",
                session.connection.access != .immutable
            else { return nil }
            let file = try file()
            let opened = try file.open()
            do {
                try opened.execute("BEGIN")
                _ = try opened.integer("SELECT COUNT(*) FROM sqlite_master")
                return SQLiteSnapshot(try makeSession(opened, try creation(file)))
            } catch {
                opened.close()
                throw error
            }
        }
    }

    private func copyInMemory(of session: SQLiteSession) throws -> SQLiteSnapshot {
        let file = try file()
        let copy = try file.open()
        do {
            try session.connection.copy(to: copy)
            return SQLiteSnapshot(try makeSession(copy, try creation(file)))
        } catch {
            copy.close()
            throw error
        }
    }

    func reading<Result>(from snapshot: AnyObject?, _ body: () throws -> Result) rethrows -> Result {
        let before = self.snapshot
        self.snapshot = snapshot as? SQLiteSnapshot
        defer { self.snapshot = before }
        return try body()
    }
}
