import Foundation
import SQLiteAccess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// SQLite goes on with the files that it has open, whatever became of their names: what is saved into a store that was moved,
// replaced or deleted under a running program is lost, or ends in a log that is then played over what stands there now. So each
// write transaction asks first whether the names still lead to those files, and once more before it is committed.

/// Asks before each write transaction of a store whether the file at its path is the one that is open, and ties the write-ahead
/// log to it (see ``LogLink``).
final class StoreGuard: WriteObserver {
    private let path: String
    private let main: FileFacts
    /// The log and its index; `nil` where there are none.
    private var companions: (log: FileFacts, index: FileFacts)?
    /// The salts of the log that is known to hold a link.
    private var linkedSalts: UInt64?
    private var isLinking = false
    private var hasMetadata = false

    /// - Parameter connection: open, and read from once.
    init(_ connection: Connection, path: String) {
        self.path = path
        main = FileFacts(path)
        noteCompanions(connection)
    }

    /// Call it when the journal mode was set.
    func noteCompanions(_ connection: Connection) {
        guard case .text("wal")? = try? connection.pragma("journal_mode") else { return companions = nil }
        companions = (FileFacts(path + "-wal"), FileFacts(path + "-shm"))
    }

    // MARK: The place

    /// What became of the store's files; `nil` while they stand where they were opened. A few system calls.
    func displacement(_ connection: Connection) -> String? {
        let now = FileFacts(path)
        if connection.fileHasMoved || !now.isSameFile(as: main) {
            let place = whereItIs.map { "it now is \($0)" } ?? "it was deleted"
            return now.exists ? "another file stands in its place (\(place))" : place
        }
        guard let companions, companions.log.exists, companions.index.exists else {
            noteCompanions(connection)
            return nil
        }
        for (suffix, before) in [("-wal", companions.log), ("-shm", companions.index)] {
            let now = FileFacts(path + suffix)
            if now.isSameFile(as: before) { continue }
            return "\(path)\(suffix), which belongs to it, was \(now.exists ? "replaced" : "moved or deleted")"
        }
        return nil
    }

    /// - Throws: 134030 where they stand there no longer.
    func checkPlace(_ connection: Connection, _ consequence: String) throws {
        guard let displacement = displacement(connection) else { return }
        throw CoreDataError.make(
            134030,
            "Cannot go on with the store \(path): its file was taken away while it was open: \(displacement). \(consequence)",
            userInfo: [NSFilePathErrorKey: path, StoreGuard.displacementKey: displacement])
    }

    /// In the errors of ``checkPlace(_:_:)``: what became of the file.
    static let displacementKey = "NSPersistentStoreDisplacement"

    private static let nothingWritten =
        "Nothing was saved. Put the file back, or open the store anew where it is now; to keep the changes, save them into another "
        + "store first."

    /// The name that the open file has now; `nil` where it has none, or the system does not tell.
    private var whereItIs: String? {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            guard let descriptor = Int32(name) else { continue }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, Int(truncatingIfNeeded: facts.st_ino) == main.inode,
                Int(truncatingIfNeeded: facts.st_dev) == main.device, facts.st_nlink > 0
            else { continue }
            return try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        }
        return nil
    }

    // MARK: Transactions

    func willWrite(_ connection: Connection) throws {
        try checkPlace(connection, Self.nothingWritten)
        try tieLog(connection)
    }

    func willCommit(_ connection: Connection) throws { try checkPlace(connection, Self.nothingWritten) }

    func didEnd(_ connection: Connection, isCommitted: Bool) {
        // SQLite makes the log of a new store with its first transaction.
        if let companions, !companions.log.exists { noteCompanions(connection) }
        guard isLinking else { return }
        isLinking = false
        if isCommitted { linkedSalts = connection.logPosition()?.salts }
    }

    /// Writes a link where the log has none, or begins anew with this transaction.
    private func tieLog(_ connection: Connection) throws {
        guard let companions, companions.index.exists, let log = connection.logPosition() else { return }
        if !log.isDone {
            if log.salts == linkedSalts { return }
            // Another program may have begun this log.
            if let page = try Self.metadataPage(connection),
                WriteAheadLog.contains(page: page, at: path + "-wal", frames: Int(log.frames))
            {
                linkedSalts = log.salts
                return
            }
        }
        if !hasMetadata { hasMetadata = try connection.hasTable("Z_METADATA") }
        guard hasMetadata, let (uuid, before) = try StoreMetadata.link(in: connection) else { return }
        var link = LogLink(token: LogLink.newToken(), base: before?.token ?? LogLink.base(forUUID: uuid))
        link.mainFile = FileFacts(path)
        link.logFile = FileFacts(path + "-wal")
        try StoreMetadata.write(link, to: connection)
        isLinking = true
    }

    /// The number of the page with the row of the metadata: a table of one row has one page, and others for what is too long.
    static func metadataPage(_ connection: Connection) throws -> UInt32? {
        let page = try connection.integer("SELECT rootpage FROM sqlite_master WHERE name = 'Z_METADATA'")
        return page.flatMap { UInt32(exactly: $0) }
    }
}
