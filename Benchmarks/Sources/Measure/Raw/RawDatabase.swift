import CSQLite3Raw

/// SQLite's C interface without a wrapper, the anchor of the ratios.
final class RawDatabase {
    private var handle: OpaquePointer?

    init(path: String) {
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        precondition(code == SQLITE_OK, "cannot open \(path)")
        execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) {
        precondition(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, String(cString: sqlite3_errmsg(handle)))
    }

    func prepare(_ sql: String) -> OpaquePointer {
        var statement: OpaquePointer?
        precondition(
            sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, String(cString: sqlite3_errmsg(handle)))
        guard let statement else { preconditionFailure("empty statement") }
        return statement
    }

    /// Prepares a statement, passes it to `body` and finalises it.
    func with(_ sql: String, _ body: (OpaquePointer) -> Void) {
        let statement = prepare(sql)
        body(statement)
        sqlite3_finalize(statement)
    }

    /// Passes each row of a statement to `row`.
    func forEachRow(_ sql: String, _ row: (OpaquePointer) -> Void) {
        with(sql) { statement in while sqlite3_step(statement) == SQLITE_ROW { row(statement) } }
    }
}

/// Runs a statement without rows and resets it.
func runRaw(_ statement: OpaquePointer) {
    let code = sqlite3_step(statement)
    precondition(code == SQLITE_DONE, "SQLite said \(code)")
    sqlite3_reset(statement)
}

/// The bytes are valid until the statement has run.
let rawStatic: sqlite3_destructor_type? = nil
