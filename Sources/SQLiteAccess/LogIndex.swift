import CSQLite3

import Glibc

/// How far a write-ahead log has come, as its index (`-shm`) says. The index's form is part of SQLite's documentation.
package struct LogState: Hashable, Sendable {
    /// What tells this round of the log from all others: the two salts, as they stand in the log's header.
    package let salts: [UInt8]
    /// The number of frames that are in the database's file too.
    package let copied: UInt32
    /// The number of frames that a copying has begun with; greater than `copied` while one runs, or where it was cut off,
    /// and after the index was made anew.
    package let begun: UInt32

    /// How many bytes of the index say all of it.
    package static let length = 136

    /// - Parameter index: the beginning of an index; `nil` where it is none that is whole.
    package init?(index: [UInt8]) {
        guard index.count >= Self.length, Self.number(index, 0) == 3_007_000, index[12] == 1,
            index[0..<48] == index[48..<96]
        else { return nil }
        salts = Array(index[32..<40])
        copied = Self.number(index, 96)
        begun = Self.number(index, 128)
    }

    /// - Parameter path: that of an index, which no connection of this process has open: its locks would go when the file is
    ///   closed here. `nil` where it is none that is whole.
    package init?(indexAt path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.length)
        guard pread(file, &bytes, bytes.count, 0) == bytes.count else { return nil }
        self.init(index: bytes)
    }

    /// Whether nothing is being copied, nor was cut off: the file stays as it is until `copied` or `salts` change.
    package var isSettled: Bool { copied == begun }

    /// The index is written in the byte order of the machine.
    // SAFETY: the caller has four bytes at `place`.
    fileprivate static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
    }
}

/// The last commit in a write-ahead log, as its index names it.
package struct LogEnd: Hashable, Sendable {
    package let salts: [UInt8]
    /// The number of frames up to it; 0 where the log is empty.
    package let frames: Int
    /// The checksum of the last of them, as the log has it.
    package let checksum: [UInt8]
    package let pageSize: Int

    /// The end of a log that is not there.
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
    /// How far the log has come, from the memory that SQLite shares with other processes; `nil` where that is just being
    /// changed. Call it only where the database is kept with a log whose index is open. No system call.
    package func logState() -> LogState? { logIndex().flatMap { LogState(index: $0) } }

    /// The last commit in the log, from the same memory; `nil` while that is being changed.
    package func logEnd() -> LogEnd? { logIndex().flatMap { LogEnd(index: $0) } }

    // SAFETY: SQLite has the memory mapped until the connection closes, 32 KiB of it at least, and it is copied during this
    // call; what other processes write meanwhile shows in the two copies of the head.
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

    /// Whether another file stands at the path than the one that is open, or none.
    package var isFileMoved: Bool {
        var hasMoved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// Keeps closing from copying the log into the database's file.
    package func leaveLogAtClose() { _ = sqlite3_leave_log_at_close(handle) }
}

/// Is asked before a connection writes, and told that it wrote.
package protocol WriteWatching: AnyObject {
    /// Called when a transaction that writes has its lock and has written nothing.
    ///
    /// - Throws: to have it rolled back instead.
    func willWrite(_ connection: Connection) throws

    /// Called before a commit, in its transaction.
    ///
    /// - Throws: to have it rolled back instead.
    func willCommit(_ connection: Connection) throws

    /// Called after a commit.
    func didWrite(_ connection: Connection)

    /// Called before the connection is closed.
    func willClose(_ connection: Connection)
}
