import Foundation
import SQLiteAccess

// A program that has a database open goes on with the files that it opened, whatever becomes of their names. Rows that it then
// writes are lost with files that have no name, or end in the log of one file and are copied into another. So before each
// transaction that writes, and whenever a program asks, it is made sure that the files at the store's path are those.
//
// That a file is another one its number tells. That another program wrote over the file is told from its length and time: with
// a write-ahead log nothing writes the file but the copying of the log, and that is counted in the log's index. The index also names
// the last commit in the log: where that is not there, another program has cut the log or written over it.

/// The files that a connection has open.
final class OpenFiles: WriteWatching {
    private let path: String
    /// The path by which the store was opened: a link may come to lead elsewhere.
    private let name: String
    private let isReadOnly: Bool
    /// True if another file had taken the place of the one that was opened by the time when `main` was read.
    private let wasMoved: Bool
    private var main: FileFacts
    /// `nil` if there is none or it is not used.
    private var log: FileFacts?
    private var index: FileFacts?
    /// Whether the log's index tells how far the log has come.
    private var hasState = false
    /// How far the log had come when `main` was read; `nil` where that cannot be told, and while something is copied.
    private var state: LogState?
    /// Last observed state; it may still be changing.
    private var lastSeen: LogState?
    /// The end of the log and its file after the last commit that was looked at, for the next one.
    private var logSeen: (end: LogEnd, facts: FileFacts)?
    /// The cookie of the file, and the number of changes, where a transaction began that is the first of a log.
    private var unmarked: (cookie: UInt32, changes: Int64)?
    /// True if a commit was marked; with a rollback journal the first one is enough.
    private var hasMarked = false

    /// Call it when the connection has read something.
    ///
    /// - Returns: `nil` where the file is gone already.
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

    /// Looks which files are used. Call it again when the journal mode was set.
    func look(_ connection: Connection) {
        (log, index, state, lastSeen) = (nil, nil, nil, nil)
        hasState = false
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

    /// Takes note of the file and of how far the log has come: here, and of what is written beside the log too.
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

    /// Marks the first commit of a log as one that follows on the file as it is (`DatabaseHeader`).
    func willCommit(_ connection: Connection) throws {
        guard let unmarked, unmarked.changes != connection.totalChanges else { return }
        try connection.setSchemaCookie(DatabaseHeader.mark(after: unmarked.cookie))
        hasMarked = true
    }

    /// Whether the log still has the last commit, and all before it where it was written since without a commit. The caller has the
    /// lock for writing.
    private func isWhole(_ end: LogEnd) -> Bool {
        let facts = FileFacts(path + "-wal")
        let isSuspect = logSeen.map { $0.end == end && $0.facts.modified != facts?.modified } ?? false
        guard LogContents.hasCommit(end, inLogAt: path + "-wal", all: isSuspect) else { return false }
        logSeen = facts.map { (end, $0) }
        return true
    }

    /// Others may commit meanwhile.
    private func logLoss(_ connection: Connection) -> Loss? {
        guard hasState, let end = connection.logEnd(), !isWhole(end), end == connection.logEnd() else { return nil }
        return .logOverwritten
    }

    /// The end of the log, if there is one; `nil` where its index does not tell.
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
        // The first commit of a new store makes the log.
        if log == nil { return look(connection) }
        guard index != nil, connection.logState() != lastSeen else { return }
        noteState(connection)
    }

    /// A log is not copied into a file for which it was not written.
    func willClose(_ connection: Connection) {
        switch notedLoss(connection) {
        case .replaced, .overwritten, .companionReplaced, .logOverwritten: connection.leaveLogAtClose()
        case .gone, .companionGone: break
        case nil: if logLoss(connection) != nil { connection.leaveLogAtClose() }
        }
    }

    // MARK: What became of the files

    /// - Throws: 134030 where the files at the path are not those that are open; 260 of a store that is only read.
    func check(_ connection: Connection) throws {
        guard let loss = notedLoss(connection) ?? logLoss(connection) else { return }
        // A file that is read without locks is opened again if another file is there.
        if connection.access == .immutable, FileFacts(path) != nil { return }
        throw loss.error(path, main, isReadOnly: isReadOnly)
    }

    func isInPlace(_ connection: Connection) -> Bool { notedLoss(connection) == nil }

    /// The file's current path; `nil` if it has none.
    var place: String? {
        if let now = FileFacts(path), now.isSameFile(as: main) { return path }
        return FileFacts.place(ofOpen: main)
    }

    /// Whether a path names the file, and beside it its log.
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

        /// - Parameter isReadOnly: whether the store is only read; else something was to be written.
        func error(_ path: String, _ main: FileFacts, isReadOnly: Bool) -> NSError {
            let (reason, code) = describe(path, main)
            return CoreDataError.make(
                isReadOnly ? 260 : 134030,
                isReadOnly
                    ? "Cannot follow the store \(path): \(reason)."
                    : "Cannot write to the store \(path): \(reason). Nothing was written.",
                underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(code)),
                userInfo: [NSFilePathErrorKey: path])
        }

        private func describe(_ path: String, _ main: FileFacts) -> (reason: String, code: Int32) {
            let place = FileFacts.place(ofOpen: main).flatMap { $0 == path ? nil : $0 }
            let moved = place.map { "; it was moved to \($0)" }
            return switch self {
            case .gone: ("it is no longer there" + (moved ?? ": the file was deleted"), ENOENT)
            case .replaced: ("another file has taken its place" + (moved ?? ""), ESTALE)
            case .overwritten: ("another program has written over the file", ESTALE)
            case .logOverwritten:
                (
                    "another program has cut or written over its log \(path)-wal; copy what can be read, and restore the "
                        + "rest", ESTALE
                )
            case .companionGone(let suffix): ("its file \(path)\(suffix) is no longer there", ENOENT)
            case .companionReplaced(let suffix):
                ("another file has taken the place of its file \(path)\(suffix)", ESTALE)
            }
        }
    }

    /// Records that a leftover `-wal` does not belong to the new file at `path`. A commit may have gone into the log after the
    /// new file was put there, so that the times of the two say nothing.
    private func disownLog(_ connection: Connection) {
        guard !wasMoved, index != nil, let log, FileFacts(path + "-wal")?.isSameFile(as: log) == true,
            let salts = connection.logState()?.salts
        else { return }
        LogNote.disown(salts: salts, logOf: path)
    }

    /// What became of the files; `nil` where they are in their place. Takes note of a file that was written as it should be,
    /// and says beside a log that the file there now is not that log's.
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
        /// By a program that copied the log into the file.
        case written
        case lost(Loss)
    }

    private func standing(_ connection: Connection) -> Standing {
        guard let now = FileFacts(name) else { return .lost(.gone) }
        guard now.isSameFile(as: main), !wasMoved else { return .lost(.replaced) }
        for (suffix, known) in [("-wal", log), ("-shm", index)] {
            guard let known else { continue }
            guard let companion = FileFacts(path + suffix) else {
                // All three may have been moved since the store was looked at.
                return .lost(FileFacts(path) == nil ? .gone : .companionGone(suffix))
            }
            guard companion.isSameFile(as: known) else { return .lost(.companionReplaced(suffix)) }
        }
        guard hasState, !now.hasSameContent(as: main) else { return .unchanged }
        // What another program copied from the log was counted before it was written.
        if let state, state == connection.logState() { return .lost(.overwritten) }
        return .written
    }
}
