import CSQLite3

import Glibc

/// The state of a write-ahead log, read from its index (`-shm`). SQLite documents the format of the index.
package struct LogState: Hashable, Sendable {
    /// Identifies this run of the log: the two salts, as in the log's header.
    package let salts: [UInt8]
    /// The number of frames that were copied to the database file.
    package let copied: UInt32
    /// The number of frames that a checkpoint has started to copy; greater than `copied` while one runs, after one was
    /// interrupted, and after the index was recreated.
    package let begun: UInt32

    /// The number of bytes of the index that contain the state.
    package static let length = 136

    /// - Parameter index: the beginning of an index. `nil` if it is invalid or truncated.
    package init?(index: [UInt8]) {
        guard index.count >= Self.length, Self.number(index, 0) == 3_007_000, index[12] == 1,
            index[0..<48] == index[48..<96]
        else { return nil }
        salts = Array(index[32..<40])
        copied = Self.number(index, 96)
        begun = Self.number(index, 128)
    }

    /// - Parameter path: the path of an index, which no connection of this process may have open: closing the file here
    ///   would drop its locks. `nil` if it is invalid or truncated.
    package init?(indexAt path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.length)
        guard pread(file, &bytes, bytes.count, 0) == bytes.count else { return nil }
        self.init(index: bytes)
    }

    /// True if no checkpoint is running or was interrupted: the file is unchanged until `copied` or `salts` change.
    package var isSettled: Bool { copied == begun }

    /// The number at `place`, in the byte order of the machine.
    // SAFETY: the caller has four bytes at `place`.
    fileprivate static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
    }
}

/// The last commit in a write-ahead log, as recorded in its index.
package struct LogEnd: Hashable, Sendable {
    package let salts: [UInt8]
    /// The number of frames up to it; 0 if the log is empty.
    package let frames: Int
    /// The checksum of the last frame, as in the log.
    package let checksum: [UInt8]
    package let pageSize: Int

    /// The end of a log that does not exist.
    package static let none = LogEnd(salts: [], frames: 0, checksum: [], pageSize: 0)

    package init(salts: [UInt8], frames: Int, checksum: [UInt8], pageSize: Int) {
        (self.salts, self.frames, self.checksum, self.pageSize) = (salts, frames, checksum, pageSize)
    }

    fileprivate init?(index: [UInt8]) {
        guard let state = LogState(index: index) else { return nil }
        let size = Int(LogState.number(index, 12) >> 16)
        self.init(
            salts: state.salts, frames: Int(LogState.number(index, 16)),
            checksum: [24, 28].flatMap { place in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: LogState.number(index, place) >> $0) }
            }, pageSize: size == 1 ? 65536 : size)
    }
}

extension Connection {
    /// The state of the log, from the memory that SQLite shares with other processes; `nil` if another process is
    /// changing it. Call it only if the database uses a log whose index is open. No system call.
    package func logState() -> LogState? { logIndex().flatMap { LogState(index: $0) } }

    /// The last commit in the log, from the same memory; `nil` if another process is changing it.
    package func logEnd() -> LogEnd? { logIndex().flatMap { LogEnd(index: $0) } }

    // SAFETY: SQLite has the memory mapped until the connection closes, at least 32 KiB of it, and it is copied during
    // this call; concurrent writes of other processes are detected by the two copies of the header.
    private func logIndex() -> [UInt8]? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard result == SQLITE_OK, let file, let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2,
            let map = methods.xShmMap
        else { return nil }
        var memory: UnsafeMutableRawPointer?
        guard map(file, 0, 32768, 0, &memory) == SQLITE_OK, let memory else { return nil }
        return Array(UnsafeRawBufferPointer(start: memory, count: LogState.length))
    }

    /// True if the path has another file than the open one, or none.
    package var isFileMoved: Bool {
        var hasMoved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// Prevents closing from copying the log into the database file.
    package func leaveLogAtClose() { _ = sqlite3_leave_log_at_close(handle) }
}

/// Receives calls before and after a connection writes.
package protocol WriteWatching: AnyObject {
    /// Called when a transaction that writes has its lock but has not written yet.
    ///
    /// - Throws: to roll the transaction back.
    func willWrite(_ connection: Connection) throws

    /// Called in a transaction before its commit.
    ///
    /// - Throws: to roll the transaction back.
    func willCommit(_ connection: Connection) throws

    /// Called after a commit.
    func didWrite(_ connection: Connection)

    /// Called before the connection is closed.
    func willClose(_ connection: Connection)
}
