import CSQLite3

extension Connection {
    /// True if SQLite supports `ALTER TABLE … DROP COLUMN`, since 3.35.
    package static var dropsColumns: Bool { sqlite3_libversion_number() >= 3_035_000 }

    /// The value of a pragma; `nil` if it returns no row.
    package func pragma(_ name: String) throws -> SQLiteValue? {
        try value("PRAGMA \(Self.checkedName(name))")
    }

    /// Sets a pragma. `value` must be a number or a plain word; others are refused.
    ///
    /// - Returns: the result of the pragma, such as the current journal mode.
    @discardableResult
    package func setPragma(_ name: String, to value: String) throws -> SQLiteValue? {
        let isPlain =
            !value.isEmpty
            && value.utf8.allSatisfy { Self.isWord($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
        guard isPlain else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "“\(value)” is not a value for the pragma \(name)")
        }
        return try self.value("PRAGMA \(Self.checkedName(name)) = \(value)")
    }

    /// A number that changes when another connection, of this or another process, commits. A few microseconds.
    package func dataVersion() throws -> Int64 {
        try integer("PRAGMA data_version") ?? 0
    }

    /// Keeps the `-wal` and `-shm` files when the last connection closes, as Apple's stores do; the log is emptied.
    package func keepLogFiles() {
        var keep: Int32 = 1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keep)
    }

    /// The columns of a table in their order; empty if there is no such table.
    package func columns(of table: String) throws -> [String] {
        try withStatement("SELECT name FROM pragma_table_info(?) ORDER BY cid") { statement in
            try statement.bind(table, at: 1)
            var names: [String] = []
            while try statement.step() { names.append(statement.text(at: 0)) }
            return names
        }
    }

    /// True if the schema has a table with this name, ignoring case; a temporary one, too.
    package func hasTable(_ name: String) throws -> Bool {
        let condition = "WHERE type = 'table' AND name = ?1 COLLATE NOCASE"
        let sql = "SELECT 1 FROM sqlite_master \(condition) UNION ALL SELECT 1 FROM sqlite_temp_master \(condition)"
        return try value(sql, [.text(name)]) != nil
    }

    private static func checkedName(_ name: String) throws -> String {
        guard !name.isEmpty, name.utf8.allSatisfy(isWord) else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "“\(name)” is not a name of a pragma")
        }
        return name
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension Connection {
    /// The counter in the header of the main file, which every commit to that file increments.
    package func fileChangeCounter() throws -> UInt32 {
        try header(at: 24, count: 4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// True if the database uses a write-ahead log, according to the header of the main file.
    package func usesLog() throws -> Bool { try header(at: 18, count: 1) == [2] }

    /// Truncates the main file to zero bytes, through SQLite's own handle. An empty file is a database without tables.
    ///
    /// Call it in an exclusive transaction of a database without a write-ahead log, and close the connection
    /// afterwards: its cached state of the file is no longer valid.
    // SAFETY: SQLite owns the file until the connection closes; it is used during this call, on the connection's
    // thread.
    package func truncateFile() throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard result == SQLITE_OK, let file, let methods = file.pointee.pMethods?.pointee,
            let truncate = methods.xTruncate, let sync = methods.xSync
        else { throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "the database has no file") }
        for step in [truncate(file, 0), sync(file, SQLITE_SYNC_NORMAL)] where step != SQLITE_OK {
            throw SQLiteError(extendedCode: step, message: String(cString: sqlite3_errstr(step)))
        }
    }

    /// Bytes of the main file, read through SQLite's own handle: opening and closing the file separately would drop
    /// SQLite's locks. Zeros if they cannot be read.
    private func header(at offset: Int64, count: Int) throws -> [UInt8] {
        // SQLite may open the file only at the first read.
        _ = try pragma("schema_version")
        return fileStart(Int(offset) + count).suffix(count)
    }

    /// The first bytes of the main file, without the content of its log. Call it after something was read.
    // SAFETY: SQLite owns the file until the connection closes; `xRead` fills `count` bytes, for which there is room.
    package func fileStart(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var file: UnsafeMutablePointer<sqlite3_file>?
        let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard result == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else { return bytes }
        _ = read(file, &bytes, Int32(count), 0)
        return bytes
    }

    /// Sets the number by which connections detect schema changes. The statement is not traced.
    package func setSchemaCookie(_ cookie: UInt32) throws {
        try untraced { try executeScript("PRAGMA schema_version = \(Int32(bitPattern: cookie))") }
    }

    /// Makes the bytes of a database the contents of an in-memory database.
    // SAFETY: SQLite frees the memory, which has room for all bytes, even if it refuses it.
    func load(_ bytes: [UInt8]) throws {
        guard bytes.count > 100, let memory = sqlite3_malloc64(UInt64(bytes.count))?.assumingMemoryBound(to: UInt8.self)
        else { throw SQLiteError(extendedCode: SQLITE_NOTADB, message: "file is not a database") }
        bytes.withUnsafeBytes { UnsafeMutableRawPointer(memory).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        // An in-memory database has no log.
        (memory[18], memory[19]) = (1, 1)
        let size = Int64(bytes.count)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
        let result = sqlite3_deserialize(handle, "main", memory, size, size, flags)
        guard result == SQLITE_OK else {
            throw SQLiteError(extendedCode: result, message: String(cString: sqlite3_errstr(result)))
        }
    }

    /// The damage that SQLite finds in a database with these bytes; `nil` if none.
    package static func damage(inDatabase bytes: [UInt8]) -> String? {
        guard let connection = try? Connection(path: ":memory:", access: .immutable, contents: bytes) else {
            return nil
        }
        defer { connection.close() }
        do {
            guard case .text(let text)? = try connection.value("PRAGMA quick_check(1)"), text != "ok" else {
                return nil
            }
            return text.split(separator: "\n").last.map(String.init)
        } catch let error as SQLiteError where error.kind == .corrupt || error.kind == .notADatabase {
            return error.message
        } catch {
            return nil
        }
    }
}
