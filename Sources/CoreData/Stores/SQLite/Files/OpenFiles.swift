import Foundation
import SQLiteAccess

// A program with an open database continues to use the opened files, even if they are moved or deleted. It then writes
// rows that are lost with a deleted file, or that reach another file through the log. So before each writing
// transaction, and whenever a program asks, the files at the store's path are compared with the open ones.
//
// Another file is recognised by its inode number. A file overwritten by another program is recognised by its size and
// time: with a write-ahead log only checkpoints write the file, and the log's index counts them. The index also has the
// last commit in the log. If that is missing, another program has truncated or overwritten the log.

/// The files that a connection has open.
final class OpenFiles: WriteWatching {
    private let path: String
    /// The path by which the store was opened. If it is a link, its target may change.
    private let name: String
    private let isReadOnly: Bool
    /// True if another file had replaced the open one when `main` was read.
    private let wasMoved: Bool
    private var main: FileFacts
    /// The facts of the write-ahead log; `nil` if there is no log or it is not used.
    private var log: FileFacts?
    /// The log, opened once for all checks. SQLite locks its index, not the log: closing it drops no lock.
    private var logFile: ReadableFile?
    private var index: FileFacts?
    /// True if the log's index can be read.
    private var hasState = false
    /// The log's state when `main` was read; `nil` if unknown, or during a checkpoint.
    private var state: LogState?
    /// The last observed state, which may be changing.
    private var lastSeen: LogState?
    /// The end of the log and the facts of its file after the last checked commit, for the next check.
    private var logSeen: (end: LogEnd, facts: FileFacts)?
    /// The file's cookie and the number of changes, in a transaction that is the first of a log.
    private var unmarked: (cookie: UInt32, changes: Int64)?
    /// True if a commit was marked. With a rollback journal only the first one is.
    private var hasMarked = false

    /// Called after the connection has read something.
    ///
    /// - Returns: `nil` if the file is already gone.
    init?(_ path: String, _ name: String, _ connection: Connection) {
        guard let main = FileFacts(path) else { return nil }
        self.path = path
        self.name = name
        self.main = main
        isReadOnly = ![.readWrite, .create].contains(connection.access)
        wasMoved = connection.isFileMoved
        look(connection)
    }

    /// True if commits go to a write-ahead log.
    var hasLog: Bool { log != nil }

    /// Finds the files in use. Called again after the journal mode was set.
    func look(_ connection: Connection) {
        (log, index, state, lastSeen) = (nil, nil, nil, nil)
        hasState = false
        logFile = nil
        guard connection.access != .immutable, (try? connection.usesLog()) == true else { return }
        log = FileFacts(path + "-wal")
        guard case .text("normal")? = try? connection.pragma("locking_mode"), let index = FileFacts(path + "-shm")
        else {
            return
        }
        hasState = true
        if !isReadOnly { self.index = index }
        noteState(connection)
    }

    /// Records the state of the file and the log, here and in the log's note.
    private func noteState(_ connection: Connection) {
        guard hasState, let before = connection.logState(), let now = FileFacts(path), now.isSameFile(as: main),
            before == connection.logState()
        else {
            (state, lastSeen) = (nil, nil)
            return
        }
        main = now
        lastSeen = before
        state = before.isSettled ? before : nil
        if !isReadOnly { LogNote.write(salts: before.salts, main: now, besideLogOf: path) }
    }

    // MARK: Before and after transactions

    func willWrite(_ connection: Connection) throws {
        if let loss = notedLoss(connection) { throw loss.error(path, main, isReadOnly: false) }
        unmarked = nil
        let end = hasState ? connection.logEnd() : nil
        if let end, !isWhole(end) { throw Loss.logOverwritten.error(path, main, isReadOnly: false) }
        guard end.map({ $0.frames == Int(connection.logState()?.copied ?? 0) }) ?? (log == nil && !hasMarked) else {
            return
        }
        unmarked = DatabaseHeader(connection.fileStart(DatabaseHeader.length)).map {
            ($0.cookie, connection.totalChanges)
        }
    }

    /// Marks the first commit of a log as a successor of the file's present state (`DatabaseHeader`).
    func willCommit(_ connection: Connection) throws {
        guard let unmarked, unmarked.changes != connection.totalChanges else { return }
        try connection.setSchemaCookie(DatabaseHeader.mark(after: unmarked.cookie))
        hasMarked = true
    }

    /// True if the log still has the last commit, and, if the log was written without a commit since, also everything
    /// before it. The caller has the write lock.
    private func isWhole(_ end: LogEnd) -> Bool {
        let facts = FileFacts(path + "-wal")
        let isSuspect = logSeen.map { $0.end == end && $0.facts.modified != facts?.modified } ?? false
        guard end.frames == 0 || hasCommit(end, all: isSuspect) else { return false }
        logSeen = facts.map { (end, $0) }
        return true
    }

    private func hasCommit(_ end: LogEnd, all: Bool) -> Bool {
        if all { return LogContents(path: path + "-wal")?.committedPages.count ?? 0 >= end.frames }
        if logFile == nil, let file = ReadableFile(path + "-wal"), let log,
            FileFacts(descriptor: file.descriptor)?.isSameFile(as: log) == true
        {
            logFile = file
        }
        return logFile.map { LogContents.hasCommit(end, in: $0) } ?? false
    }

    /// Returns a loss if the log was overwritten. Reads the log's end twice, because other processes may commit in
    /// between.
    private func logLoss(_ connection: Connection) -> Loss? {
        guard hasState, let end = connection.logEnd(), !isWhole(end), end == connection.logEnd() else { return nil }
        return .logOverwritten
    }

    /// Returns the end of the log, which may be empty; `nil` if its index cannot be read.
    func logEnd(_ connection: Connection) -> LogEnd? {
        if log == nil, (FileFacts(path + "-wal")?.size ?? 0) > 0 { look(connection) }
        return log == nil ? LogEnd.none : hasState ? connection.logEnd() : nil
    }

    func didWrite(_ connection: Connection) {
        defer {
            if hasState, let end = connection.logEnd(), let facts = FileFacts(path + "-wal"), end == connection.logEnd()
            {
                logSeen = (end, facts)
            }
        }
        // The first commit of a new store creates the log.
        if log == nil { return look(connection) }
        guard index != nil, connection.logState() != lastSeen else { return }
        noteState(connection)
    }

    /// Prevents copying a log into a file for which it was not written.
    func willClose(_ connection: Connection) {
        switch notedLoss(connection) {
        case .replaced, .overwritten, .companionReplaced, .logOverwritten: connection.leaveLogAtClose()
        case .gone, .companionGone: break
        case nil: if logLoss(connection) != nil { connection.leaveLogAtClose() }
        }
    }

    // MARK: Changes of the files

    /// Checks that the files at the path are the open ones.
    ///
    /// - Throws: 134030 if the files at the path are not the open ones; 260 for a read-only store.
    func check(_ connection: Connection) throws {
        guard let loss = notedLoss(connection) ?? logLoss(connection) else { return }
        // Not an error for an immutable connection if the path still has a file: the store then opens that file again.
        if connection.access == .immutable, FileFacts(path) != nil { return }
        throw loss.error(path, main, isReadOnly: isReadOnly)
    }

    func isInPlace(_ connection: Connection) -> Bool { notedLoss(connection) == nil }

    /// The file's current path; `nil` if it has none.
    var place: String? {
        if let now = FileFacts(path), now.isSameFile(as: main) { return path }
        return FileFacts.place(ofOpen: main)
    }

    /// Compares a path with the open file, and its log with the open log.
    func stands(at other: String) -> (main: Bool, log: Bool) {
        (
            FileFacts(other)?.isSameFile(as: main) == true,
            log.flatMap { log in FileFacts(other + "-wal").map { $0.isSameFile(as: log) } } == true
        )
    }

    private enum Loss {
        case gone
        case replaced
        case overwritten
        case companionGone(String)
        case companionReplaced(String)
        case logOverwritten

        /// Returns the error that reports the loss of a store's file or log.
        ///
        /// - Parameter isReadOnly: true if the store is only read; false if something was to be written.
        func error(_ path: String, _ main: FileFacts, isReadOnly: Bool) -> NSError {
            let (reason, code) = describe(path, main)
            return CoreDataError.make(
                isReadOnly ? 260 : 134030,
                isReadOnly
                    ? "Cannot continue with the store \(path): \(reason)."
                    : "Cannot write to the store \(path): \(reason). Nothing was written.",
                underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(code)),
                userInfo: [NSFilePathErrorKey: path])
        }

        private func describe(_ path: String, _ main: FileFacts) -> (reason: String, code: Int32) {
            let place = FileFacts.place(ofOpen: main).flatMap { $0 == path ? nil : $0 }
            let moved = place.map { "; it was moved to \($0)" }
            return switch self {
            case .gone: ("its file is gone" + (moved ?? ": it was deleted"), ENOENT)
            case .replaced: ("another file has replaced it" + (moved ?? ""), ESTALE)
            case .overwritten: ("another program has overwritten its file", ESTALE)
            case .logOverwritten:
                (
                    "another program has truncated or overwritten its log \(path)-wal. Copy what can be read and restore the "
                        + "rest", ESTALE
                )
            case .companionGone(let suffix): ("its file \(path)\(suffix) is gone", ENOENT)
            case .companionReplaced(let suffix):
                ("another file has replaced its file \(path)\(suffix)", ESTALE)
            }
        }
    }

    /// Records that a leftover `-wal` does not belong to the new file at `path`. Commits may have been added to the log
    /// after the new file was put there, so that the times of the two mean nothing.
    private func disownLog(_ connection: Connection) {
        guard !wasMoved, index != nil, let log, FileFacts(path + "-wal")?.isSameFile(as: log) == true,
            let salts = connection.logState()?.salts
        else { return }
        LogNote.disown(salts: salts, logOf: path)
    }

    /// Returns what happened to the files; `nil` if they are in place. Records the state after a proper write, and
    /// records in a log's note that the file at the path is not that log's.
    private func notedLoss(_ connection: Connection) -> Loss? {
        switch standing(connection) {
        case .unchanged: return nil
        case .written:
            noteState(connection)
            return nil
        case .lost(.replaced):
            disownLog(connection)
            return .replaced
        case .lost(.overwritten):
            if let state, !isReadOnly { LogNote.disown(salts: state.salts, logOf: path) }
            return .overwritten
        case .lost(let loss): return loss
        }
    }

    private enum Standing {
        case unchanged
        /// Another program copied the log into the file.
        case written
        case lost(Loss)
    }

    private func standing(_ connection: Connection) -> Standing {
        guard let now = FileFacts(name) else { return .lost(.gone) }
        guard now.isSameFile(as: main), !wasMoved else { return .lost(.replaced) }
        for (suffix, known) in [("-wal", log), ("-shm", index)] {
            guard let known else { continue }
            guard let companion = FileFacts(path + suffix) else {
                // Main file, log and index may have been moved together after the main file was checked.
                return .lost(FileFacts(path) == nil ? .gone : .companionGone(suffix))
            }
            guard companion.isSameFile(as: known) else { return .lost(.companionReplaced(suffix)) }
        }
        guard hasState, !now.hasSameContent(as: main) else { return .unchanged }
        // A checkpoint by another program is counted before it writes.
        if let state, state == connection.logState() { return .lost(.overwritten) }
        return .written
    }
}
