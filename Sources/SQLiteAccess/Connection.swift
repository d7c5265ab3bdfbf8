import CSQLite3
import Foundation

/// One connection to an SQLite database.
///
/// Use it on one thread at a time; only ``interrupt()`` may be called at any time from any thread. Every failure is an
/// ``SQLiteError``.
// SAFETY: the owner uses it on one thread at a time; `interrupt()` only calls `sqlite3_interrupt`, which any thread may
// call.
package final class Connection: @unchecked Sendable {
    /// The permitted access to the file.
    package enum Access: Hashable, Sendable {
        /// Opens the database for reading; never creates other files next to it.
        case readOnly
        /// Opens the database for reading without locks: the file must not change while it is open.
        case immutable
        /// Never writes to the database, but creates the index of its write-ahead log if it is missing.
        case recovering
        /// Opens an existing file for writing.
        case readWrite
        /// Opens a file for writing, and creates it if it does not exist.
        case create
    }

    /// The file's path; `:memory:` for a database without one.
    package let path: String
    package let access: Access
    let handle: OpaquePointer
    let cache = StatementCache()
    /// The log of statements; usually `nil`.
    let trace: StatementTrace?
    /// True if the connection reports its statements to ``StatementObservers``.
    private var isObserved = false
    private var isOpen = true
    /// True if a transaction is still open because its rollback failed.
    var hasFailedToRollBack = false
    /// Called before transactions that write. Set before the first of them.
    package var watch: (any WriteWatching)?
    /// Called after each statement that ``execute(_:_:)`` has run to its end; usually `nil`.
    package var didExecute: ((_ sql: String, _ arguments: [SQLiteValue]) -> Void)?
    /// The cancellation check during ``cancelling(when:_:)``.
    private var question: Question?

    /// Opens the file. It is not read before the first statement.
    ///
    /// - Parameters:
    ///   - busyTimeout: the time, in seconds, that a statement waits for a lock of another connection.
    ///   - contents: the bytes of a database to read from memory instead of the file.
    package init(
        path: String, access: Access, busyTimeout: TimeInterval = 5, trace: StatementTrace? = StatementTrace.ofProcess,
        contents: [UInt8]? = nil
    ) throws {
        let flags: Int32 =
            switch access {
            case _ where contents != nil: SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY
            case .readOnly, .immutable, .recovering: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        let name =
            switch access {
            case _ where contents != nil: ":memory:"
            case .readOnly: Self.uri(path) + "?readonly_shm=1"
            case .immutable: Self.uri(path) + "?immutable=1"
            case .recovering: Self.uri(path)
            case .readWrite, .create: path
            }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard result == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result))
            sqlite3_close(opened)
            throw SQLiteError(extendedCode: result, message: message)
        }
        self.path = path
        self.access = access
        self.handle = opened
        self.trace = trace
        setBusyTimeout(busyTimeout)
        stopWithProcess()
        trace?.attach(to: opened)
        if let contents { try load(contents) }
    }

    deinit { close() }

    /// Finalises the cached statements and closes the file. Nothing may be called afterwards; calling it twice is
    /// allowed.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        watch?.willClose(self)
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Sets the time, in seconds, that a statement waits for a lock of another connection.
    package func setBusyTimeout(_ seconds: TimeInterval) {
        let milliseconds = max(0, min(seconds * 1000, Double(Int32.max)))
        sqlite3_busy_timeout(handle, Int32(milliseconds))
    }

    /// Stops the running statement, from any thread: it fails with ``SQLiteError/Kind/interrupted``.
    package func interrupt() { sqlite3_interrupt(handle) }

    /// Runs `body`, whose statements fail with ``SQLiteError/Kind/interrupted`` once `isCancelled` returns true. It is
    /// called on the calling thread, every few thousand steps of SQLite's virtual machine, and by our own collations,
    /// since a sort is one step. Unlike ``interrupt()`` it cannot be called too early. After a cancellation the results
    /// of `body` are invalid: it may have got its last rows before SQLite checked. Not nested.
    ///
    /// - Parameter isCancelled: receives the number of rows that the running statements have scanned in full scans of
    ///   tables and indexes.
    // SAFETY: the question lives until `body` has ended, and the handler is removed before.
    package func cancelling<Result>(
        when isCancelled: @escaping (_ scannedRows: Int) -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        // The counter of a cached statement includes its earlier runs.
        _ = Self.takeScannedRows(of: handle)
        let question = Question(handle, isCancelled)
        // The handler is removed before `question` is released.
        sqlite3_progress_handler(
            handle, Self.stepsBetweenQuestions,
            { place in
                guard let place else { return 0 }
                let question = Unmanaged<Question>.fromOpaque(place).takeUnretainedValue()
                question.scannedRows += Connection.takeScannedRows(of: question.handle)
                return question.ask() || StatementStop.isRaised ? 1 : 0
            }, Unmanaged.passUnretained(question).toOpaque())
        self.question = question
        defer {
            self.question = nil
            stopWithProcess()
        }
        return try withExtendedLifetime(question, body)
    }

    private func stopWithProcess() {
        sqlite3_progress_handler(handle, Self.stepsBetweenQuestions, { _ in StatementStop.isRaised ? 1 : 0 }, nil)
    }

    /// True if the running statement will fail at SQLite's next check, so that its comparisons no longer matter. False
    /// for a statement that writes: a short one may end before the check, and leave an index in a wrong order.
    var isCancelled: Bool { question?.ask() == true && sqlite3_txn_state(handle, nil) != SQLITE_TXN_WRITE }

    private static let stepsBetweenQuestions: Int32 = 10_000

    /// The number of rows that the connection's statements have scanned since the last call.
    private static func takeScannedRows(of handle: OpaquePointer) -> Int {
        var rows = 0
        var next = sqlite3_next_stmt(handle, nil)
        while let statement = next {
            rows += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1))
            next = sqlite3_next_stmt(handle, statement)
        }
        return rows
    }

    // MARK: Statements

    /// Prepares a statement that is not cached.
    package func prepare(_ sql: String) throws -> Statement {
        try Statement(connection: self, sql: sql, isPersistent: false)
    }

    /// Passes a prepared statement for `sql` to `body`, from the cache if possible, and resets it afterwards.
    ///
    /// Nested use of the same text gets a separate statement.
    package func withStatement<Result>(_ sql: String, _ body: (Statement) throws -> Result) throws -> Result {
        if StatementObservers.isActive != isObserved { followObservers() }
        try StatementStop.check(sql)
        let statement = try cache.take(sql, connection: self)
        defer { cache.giveBack(statement) }
        return try body(statement)
    }

    /// Starts or stops reporting to observers. A connection with a trace reports in any case.
    private func followObservers() {
        isObserved.toggle()
        guard trace == nil else { return }
        if isObserved {
            StatementTrace.forObservers.attach(to: handle)
        } else {
            StatementTrace.detach(from: handle)
        }
    }

    /// Runs `body` without tracing its statements.
    func untraced(_ body: () throws -> Void) rethrows {
        StatementTrace.detach(from: handle)
        defer { if let trace = trace ?? (isObserved ? .forObservers : nil) { trace.attach(to: handle) } }
        try body()
    }

    /// Runs one statement to its end, and discards its rows.
    package func execute(_ sql: String, _ arguments: [SQLiteValue] = []) throws {
        try withStatement(sql) { statement in
            try statement.bind(arguments)
            while try statement.step() {}
        }
        didExecute?(sql, arguments)
    }

    /// Runs several statements separated by semicolons, without arguments.
    package func executeScript(_ sql: String) throws {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw error(result, sql: sql) }
    }

    /// All rows of a query, as values. For small results; hot code reads columns through ``withStatement(_:_:)``.
    @discardableResult
    package func rows(_ sql: String, _ arguments: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        try withStatement(sql) { statement in
            try statement.bind(arguments)
            var rows: [[SQLiteValue]] = []
            while try statement.step() {
                rows.append((0..<statement.columnCount).map { statement.value(at: $0) })
            }
            return rows
        }
    }

    /// The first column of the first row; `nil` if there is no row.
    package func value(_ sql: String, _ arguments: [SQLiteValue] = []) throws -> SQLiteValue? {
        try withStatement(sql) { statement in
            try statement.bind(arguments)
            return try statement.step() ? statement.value(at: 0) : nil
        }
    }

    /// The first column of the first row as a number; `nil` if there is no row or it is `NULL`.
    package func integer(_ sql: String, _ arguments: [SQLiteValue] = []) throws -> Int64? {
        try withStatement(sql) { statement in
            try statement.bind(arguments)
            return try statement.step() && !statement.isNull(at: 0) ? statement.integer(at: 0) : nil
        }
    }

    // MARK: Results of the last statement

    /// The number of rows that the last `INSERT`, `UPDATE` or `DELETE` changed, without those of triggers.
    package var changes: Int { Int(sqlite3_changes(handle)) }
    /// The number of rows that were changed through the connection since it was opened.
    package var totalChanges: Int64 { sqlite3_total_changes64(handle) }
    package var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    // MARK: Errors

    /// The error for `result` with the connection's last message.
    func error(_ result: Int32, sql: String? = nil) -> SQLiteError {
        let extended = sqlite3_extended_errcode(handle)
        let code = extended & 0xff == result & 0xff ? extended : result
        return SQLiteError(extendedCode: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
    }

    /// `path` as the part of a `file:` URI before its query.
    private static func uri(_ path: String) -> String {
        var escaped = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"):
                escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            case 0x80...:
                escaped += "%" + String(byte, radix: 16, uppercase: true)
            default:
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return escaped
    }
}

/// The cancellation check that SQLite calls while it works.
private final class Question {
    let handle: OpaquePointer
    /// Updated when SQLite calls the check: counting at each comparison of texts would take longer than comparing.
    var scannedRows = 0
    private let isCancelled: (Int) -> Bool
    private var wasCancelled = false

    init(_ handle: OpaquePointer, _ isCancelled: @escaping (Int) -> Bool) {
        self.handle = handle
        self.isCancelled = isCancelled
    }

    /// A cancellation is permanent, since the result of an interrupted sort is invalid.
    func ask() -> Bool {
        wasCancelled = wasCancelled || isCancelled(scannedRows)
        return wasCancelled
    }
}
