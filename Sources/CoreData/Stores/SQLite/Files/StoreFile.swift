import Foundation
import SQLiteAccess
import Glibc

/// Opens the file of a store. Its errors describe the reason.
struct StoreFile {
    /// The target of links: SQLite keeps the log next to it.
    let path: String
    /// The path that was passed in, which may be a link.
    let name: String
    let options: StoreOptions
    var isReadOnly: Bool
    /// True if there is no file. Each opening then creates a database in memory.
    let isInMemory: Bool
    /// The permissions of a new file; `nil` for the default ones, which the umask limits.
    var newPermissions: mode_t?

    /// The model of a file that may be no store: see ``FileTableViews``.
    var model: NSManagedObjectModel?

    /// The default time to wait for a lock.
    static let defaultTimeout: TimeInterval = 5

    var timeout: TimeInterval { options.timeout ?? Self.defaultTimeout }
    var errors: SQLiteStoreErrors { SQLiteStoreErrors(path: path, timeout: timeout) }

    /// - Throws: 134080 for a URL that is not a file URL.
    init(url: URL?, options: StoreOptions, isReadOnly: Bool) throws {
        guard let url, url.isFileURL else {
            throw CoreDataError.make(
                134080, "Cannot open the store \(url?.absoluteString ?? "(no URL)"): it is not a file URL.")
        }
        self.isInMemory = url.isMemoryPlace
        name = isInMemory ? URL.memoryPlace.path : url.path
        path = isInMemory ? name : FileWriting.target(of: name)
        self.options = options
        self.isReadOnly = isReadOnly
    }

    /// True if anything exists at the path. A store in memory is always new.
    var exists: Bool { !isInMemory && access(path, F_OK) == 0 }

    /// Opens the file, or creates it unless it is read-only. Registers the functions that Apple's triggers call.
    ///
    /// Reads the file once, to find out now if it is not a database, locked or damaged.
    ///
    /// - Throws: 260 if there is no file to read, 257 or 513 for missing permission, 259 if it is not a database or has
    ///   the log of another store, 134090 if another connection has locked it, 134080 for anything else.
    func open() throws -> Connection {
        if isInMemory { return try openInMemory() }
        let isNew = !exists
        try checkPermissions()
        try SideFiles(path: path).check()
        let activity: SQLiteStoreErrors.Activity = isNew ? .creating : .opening
        return try errors.translating(activity) {
            if !isNew { try StoreHeader.check(path) }
            let connection =
                !isNew && (hasLog || size(of: "-journal") > 0)
                ? try LogOwnership.check(path) { try openFile(isNew: false) } : try openFile(isNew: isNew)
            do {
                try prepare(connection, isNew: isNew)
            } catch {
                connection.close()
                throw error
            }
            connection.watch = OpenFiles(path, name, connection)
            return connection
        }
    }

    /// Opens a database that is lost with its connection.
    private func openInMemory() throws -> Connection {
        try errors.translating(.creating) {
            let connection = try Connection(path: ":memory:", access: .create)
            do {
                try prepare(connection, isNew: true)
            } catch {
                connection.close()
                throw error
            }
            return connection
        }
    }

    private func openFile(isNew: Bool) throws -> Connection {
        if isReadOnly { return try openForReading() }
        // If this fails, SQLite reports the reason. Another process may have created the file.
        if isNew { try? StoreFiles.makeEmpty(at: path, newPermissions) }
        return try Connection(path: path, access: isNew ? .create : .readWrite, busyTimeout: timeout)
    }

    // MARK: Before opening

    private func checkPermissions() throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { throw failure(134080, "Cannot open the store \(path): it is a folder.") }
            if !isPlainFile { throw failure(259, "Cannot open the store \(path): it is not a regular file.") }
            if access(path, R_OK) != 0 {
                throw failure(257, "Cannot open the store \(path): you have no permission to read the file.")
            }
            if !isReadOnly && access(path, W_OK) != 0 {
                throw failure(
                    513, "Cannot open the store \(path): you have no permission to write the file. Open it read-only.")
            }
        } else if isReadOnly {
            throw failure(260, "Cannot open the store \(path): the file does not exist.")
        }
        if !isReadOnly { try checkFolder() }
    }

    /// True if the path is a plain file, unlike a pipe, which would block, or a device, which may have no end.
    private var isPlainFile: Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    private func checkFolder() throws {
        let folder = (path as NSString).deletingLastPathComponent
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw failure(134080, "Cannot create the store \(path): the folder \(folder) does not exist.")
        }
        guard access(folder, W_OK) != 0 else { return }
        throw failure(
            513,
            exists
                ? "Cannot open the store \(path) for writing: you have no permission to write in \(folder). Open it read-only."
                : "Cannot create the store \(path): you have no permission to write in \(folder).")
    }

    private func failure(_ code: Int, _ message: String) -> NSError {
        CoreDataError.make(code, message, userInfo: [NSFilePathErrorKey: path])
    }

    // MARK: Reading only

    // A reader of a database with a write-ahead log needs the log's index (`-shm`). If it exists, the reader uses it
    // without writing. If not, no process has the store open. The reader then reads the main file, which is complete if
    // there is no log, until a process opens the store (see `RefreshingReader`); if there is a log, the reader has to
    // make the index. If there is a rollback journal, a write may be unfinished, which SQLite detects.
    private func openForReading() throws -> Connection {
        if !hasLog && !hasLogIndex && size(of: "-journal") == 0 {
            let reader = try Connection(path: path, access: .immutable, busyTimeout: timeout)
            if try reader.usesLog() { return reader }
            reader.close()
        }
        if hasLogIndex, !isLogFollowed { return try openBesideOtherIndex() }
        let reader = try Connection(path: path, access: .readOnly, busyTimeout: timeout)
        do {
            _ = try reader.pragma("schema_version")
            return reader
        } catch let error as SQLiteError where error.isMissingLogIndex {
            reader.close()
            return try openWithoutIndex()
        } catch let error as SQLiteError where error.extendedCode == SQLiteStoreErrors.needsRollback {
            // A writer died. The next writer rolls back its uncommitted changes.
            reader.close()
            let before = FileFacts(path)
            guard !LogOwnership(path: path).isOpenHere, let database = JournalContents.database(at: path) else {
                throw error
            }
            guard FileFacts(path) == before, size(of: "-journal") > 0 else { return try openForReading() }
            return try Connection(path: path, access: .immutable, contents: database)
        }
    }

    private func openWithoutIndex() throws -> Connection {
        guard hasLog else { return try Connection(path: path, access: .immutable, busyTimeout: timeout) }
        let reader = try Connection(path: path, access: .recovering, busyTimeout: timeout)
        do {
            _ = try reader.pragma("schema_version")
            return reader
        } catch let error as SQLiteError where error.isMissingLogIndex {
            reader.close()
            throw failure(
                513,
                "Cannot open the store \(path): its last changes are in \(path)-wal, and reading them needs "
                    + "permission to write in the folder. Copy both files to another folder.")
        }
    }

    /// True if the index is that of the log. It is not if a process was killed when it began the log again, or if the
    /// log is invalid.
    private var isLogFollowed: Bool {
        if logSize == 0 { return true }
        guard logSize > Self.logHeaderSize, let salts = LogContents.salts(ofLogAt: path + "-wal") else { return false }
        // A connection of this process uses file and index. Opening and closing the index here would drop its locks.
        if LogOwnership(path: path).isOpenHere { return true }
        guard let index = LogState(indexAt: path + "-shm") else { return true }
        return index.salts == salts
    }

    /// Opens the file with an index that is not the log's. SQLite waits ten seconds for another process to repair the
    /// index and then fails, unless the reader may repair it.
    private func openBesideOtherIndex() throws -> Connection {
        if access(path + "-shm", W_OK) == 0 {
            return try Connection(path: path, access: .recovering, busyTimeout: timeout)
        }
        // Without permission to repair the index, the main file is enough if the log is empty.
        let isEmpty = LogContents(path: path + "-wal") == nil
        return try Connection(path: path, access: isEmpty ? .immutable : .readOnly, busyTimeout: timeout)
    }

    private var hasLogIndex: Bool { access(path + "-shm", F_OK) == 0 }

    /// True if the file has a write-ahead log that is not empty.
    var hasLog: Bool { logSize > 0 }

    private static let logHeaderSize: Int64 = 32

    /// The size of the write-ahead log; 0 if there is none.
    private var logSize: Int64 { size(of: "-wal") }

    /// The size of a side file; 0 if it does not exist.
    private func size(of suffix: String) -> Int64 {
        var facts = stat()
        return stat(path + suffix, &facts) == 0 ? Int64(facts.st_size) : 0
    }

    // MARK: After opening

    private func prepare(_ connection: Connection, isNew: Bool) throws {
        try AffectedRows.registerSilently(on: connection)
        try SQLFunctions.register(on: connection)
        if isNew {
            try connection.setPragma("page_size", to: "4096")
            try connection.setPragma("auto_vacuum", to: "2")
        }
        try connection.setPragma("recursive_triggers", to: "1")
        try connection.setPragma("synchronous", to: "NORMAL")
        try connection.setPragma("journal_size_limit", to: "33554432")
        let onlyForWriting: Set = ["journal_mode", "page_size", "auto_vacuum", "user_version", "application_id"]
        for (name, value) in options.pragmas where name != "journal_mode" {
            if isReadOnly && !isInMemory && onlyForWriting.contains(name.lowercased()) { continue }
            try set(pragma: name, to: value, on: connection)
        }
        if !isReadOnly && !isInMemory { connection.keepLogFiles() }
        _ = try connection.pragma("schema_version")
        if isReadOnly, let model, model.showsPlainTables { try FileTableViews(model: model).install(on: connection) }
    }

    /// Sets the journal mode in the options, by default the write-ahead log. A store in use by others keeps its mode.
    func setJournalMode(of connection: Connection) throws {
        let wanted = options.pragmas.first { $0.name.lowercased() == "journal_mode" }?.value ?? "wal"
        var mode = ""
        if case .text(let name)? = try connection.pragma("journal_mode") { mode = name.lowercased() }
        if mode == wanted.lowercased() { return }
        do {
            try set(pragma: "journal_mode", to: wanted, on: connection)
            (connection.watch as? OpenFiles)?.look(connection)
        } catch let error as SQLiteError where error.kind == .busy {
            return
        }
        // SQLite truncates the log without syncing. After the next commits, a power failure would restore the log,
        // which would be played over them.
        if mode == "wal" { _ = DurableFile.syncCommits(toStoreAt: path) }
    }

    private func set(pragma name: String, to value: String, on connection: Connection) throws {
        do {
            try connection.setPragma(name, to: value)
        } catch let error as SQLiteError where error.kind == .statement {
            throw failure(134080, "Cannot open the store \(path): the pragma \(name) cannot be set to “\(value)”.")
        }
    }
}

extension SQLiteError {
    /// True if the index of the write-ahead log is missing or cannot be used without writing it: `SQLITE_CANTOPEN`,
    /// `SQLITE_READONLY_CANTINIT`, `SQLITE_READONLY_RECOVERY`. A rollback journal that has to be played back is a
    /// different case: without it the file must not be read.
    fileprivate var isMissingLogIndex: Bool { kind == .cannotOpen || extendedCode == 1288 || extendedCode == 264 }
}
