import CSQLite3

/// What hears of the write transactions of a connection, and may refuse them. Called on the connection's thread.
package protocol WriteObserver: AnyObject {
    /// A transaction has the writer's lock, and has written nothing yet. What is thrown takes it back.
    func willWrite(_ connection: Connection) throws
    /// The transaction is about to be committed. What is thrown takes it back.
    func willCommit(_ connection: Connection) throws
    /// The transaction ended.
    func didEnd(_ connection: Connection, isCommitted: Bool)
}

/// How far a write-ahead log is, as the index that all its users share says it.
package struct LogPosition: Equatable, Sendable {
    /// The two salts of the log: other ones after each time that it begins anew.
    package let salts: UInt64
    /// How many frames it has up to the last commit.
    package let frames: UInt32
    /// How many of them were copied to the main file.
    package let copied: UInt32

    /// Whether the next transaction begins the log anew: nothing in it is needed any more.
    package var isDone: Bool { frames == copied }
}

extension Connection {
    /// Where the write-ahead log is; `nil` where the database has none. Exact in a write transaction that wrote nothing yet.
    ///
    /// Call it only where the index (`-shm`) is a file that SQLite has open: with a log and without exclusive locking. What stands
    /// where in the index is part of SQLite's documentation of its log.
    package func logPosition() -> LogPosition? {
        guard case .text("wal")? = try? pragma("journal_mode"), let file = mainFile,
            let map = file.pointee.pMethods?.pointee.xShmMap
        else { return nil }
        var place: UnsafeMutableRawPointer?
        guard map(file, 0, 32768, 0, &place) == SQLITE_OK, let place else { return nil }
        // SAFETY: the region is 32 KiB, mapped until the connection closes, and the numbers lie on multiples of four.
        func number(_ offset: Int) -> UInt32 { place.load(fromByteOffset: offset, as: UInt32.self) }
        return LogPosition(salts: UInt64(number(32)) << 32 | UInt64(number(36)), frames: number(16), copied: number(96))
    }

    /// Whether the file that is open stands no longer at its path: moved, replaced or deleted. One system call.
    package var fileHasMoved: Bool {
        var moved: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    /// SQLite's own handle of the main file.
    var mainFile: UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK else { return nil }
        return file
    }
}
