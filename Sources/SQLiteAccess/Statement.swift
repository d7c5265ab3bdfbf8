import CSQLite3
import Foundation

/// A prepared statement: bind, step, read columns, reset.
///
/// Arguments are numbered from 1, columns from 0, as in SQLite. Arguments stay until they are bound again or cleared.
package final class Statement {
    package let sql: String
    package let columnCount: Int
    package let argumentCount: Int
    let handle: OpaquePointer
    /// The time of the last return to the cache.
    var lastUse: UInt64 = 0
    private unowned let connection: Connection
    // SAFETY: one text is bound at a time, by the connection's one user, and binding calls no other code.
    @exclusivity(unchecked)
    private var textRoom = TextRoom()

    init(connection: Connection, sql: String, isPersistent: Bool) throws {
        var prepared: OpaquePointer?
        let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = sqlite3_prepare_v3(connection.handle, sql, -1, flags, &prepared, nil)
        guard result == SQLITE_OK else { throw connection.error(result, sql: sql) }
        guard let prepared else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "the statement is empty", sql: sql)
        }
        self.connection = connection
        self.sql = sql
        self.handle = prepared
        self.columnCount = Int(sqlite3_column_count(prepared))
        self.argumentCount = Int(sqlite3_bind_parameter_count(prepared))
        connection.trace?.notePlan(of: sql, on: connection)
    }

    deinit { sqlite3_finalize(handle) }

    /// True if the statement cannot change the database.
    package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    // MARK: Running

    /// Advances to the next row. `false` at the end; the statement is then reset.
    package func step() throws -> Bool {
        let result = sqlite3_step(handle)
        if result == SQLITE_ROW { return true }
        guard result == SQLITE_DONE else {
            let error = connection.error(result, sql: sql)
            sqlite3_reset(handle)
            throw error
        }
        sqlite3_reset(handle)
        return false
    }

    /// Runs a statement without result rows, and leaves it ready for the next arguments.
    package func run() throws {
        defer { textRoom.clear() }
        while try step() {}
    }

    package func reset() { sqlite3_reset(handle) }

    package func clearBindings() {
        sqlite3_clear_bindings(handle)
        textRoom.clear()
    }

    // MARK: Arguments

    /// Binds the arguments in order.
    package func bind(_ values: [SQLiteValue]) throws {
        guard values.count == argumentCount else {
            throw SQLiteError(
                extendedCode: SQLITE_RANGE, message: "\(values.count) arguments for \(argumentCount) places", sql: sql)
        }
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
    }

    package func bind(_ value: SQLiteValue, at index: Int) throws {
        switch value {
        case .null: try bindNull(at: index)
        case .integer(let number): try bind(number, at: index)
        case .real(let number): try bind(number, at: index)
        case .text(let text): try bind(text, at: index)
        case .blob(let data): try bind(data, at: index)
        }
    }

    package func bindNull(at index: Int) throws { try check(sqlite3_bind_null(handle, Int32(index))) }

    package func bind(_ number: Int64, at index: Int) throws {
        try check(sqlite3_bind_int64(handle, Int32(index), number))
    }

    package func bind(_ number: Double, at index: Int) throws {
        try check(sqlite3_bind_double(handle, Int32(index), number))
    }

    package func bind(_ text: String, at index: Int) throws {
        var text = text
        let result = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                // An empty buffer may have no address, which SQLite would treat as NULL.
                sqlite3_bind_text64(
                    handle, Int32(index), characters.baseAddress ?? Self.emptyText, UInt64(characters.count),
                    Self.transient,
                    UInt8(SQLITE_UTF8))
            }
        }
        try check(result)
    }

    /// Binds a text until the end of the next ``run()``; it must be bound again for the one after it. SQLite does not
    /// copy the text.
    package func bindForOneRun(_ text: String, at index: Int) throws {
        guard let bytes = textRoom.copy(text) else { return try bind(text, at: index) }
        try check(
            sqlite3_bind_text64(
                handle, Int32(index), bytes.baseAddress, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
    }

    // SAFETY: SQLite copies the bytes before the call returns (`transient`).
    package func bind(_ data: Data, at index: Int) throws {
        try check(data.withUnsafeBytes { bindBytes($0, at: index) })
    }

    // SAFETY: SQLite copies the bytes before the call returns (`transient`).
    package func bind(_ uuid: UUID, at index: Int) throws {
        try check(withUnsafeBytes(of: uuid.uuid) { bindBytes($0, at: index) })
    }

    // SAFETY: SQLite copies the bytes before the call returns (`transient`).
    private func bindBytes(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int32 {
        guard let address = bytes.baseAddress, !bytes.isEmpty else {
            return sqlite3_bind_zeroblob(handle, Int32(index), 0)
        }
        return sqlite3_bind_blob64(handle, Int32(index), address, UInt64(bytes.count), Self.transient)
    }

    private func check(_ result: Int32) throws {
        guard result == SQLITE_OK else { throw connection.error(result, sql: sql) }
    }

    /// `SQLITE_TRANSIENT`: SQLite copies the bytes before the call returns.
    @inline(__always)
    static var transient: sqlite3_destructor_type? { sqlite3_transient_destructor() }
    // SAFETY: immutable, and never freed.
    nonisolated(unsafe) private static let emptyText: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()
}
