import Foundation
import SQLiteAccess
import Synchronization
import Glibc

// SQLite plays back any complete write-ahead log or rollback journal, whichever database it was written for, because
// neither names its database. A log next to the wrong store would replace a part of it, or all of it, without an error.
// So before anything is written, the log is compared with the store's file:
//
// - The first pages of both show if one can follow the other, also in copies (`DatabaseHeader`).
// - If both files match a note, or their times show that one was put there later, that decides (`LogStanding`).
// - Otherwise the store in the main file alone is compared with the store including the log.
//
// The main file alone is read without locks, and closing it would drop SQLite's locks on it in this process. So this is
// only done while no process has the store open. A process that has it open already knew its log.

/// Checks if the write-ahead log or rollback journal of a store belongs to it.
struct LogOwnership {
    let path: String

    /// The maximum number of pages of a store that is checked completely. More would make opening slow.
    private static let checkedPages: Int64 = 4096

    private static let gate = Mutex(())

    /// Checks the log and the journal if no process has the store open, then runs `open`. Writes and removes nothing.
    ///
    /// Without `/proc`, which shows who has files open, nothing is checked.
    ///
    /// - Throws: 259 for a log or journal of another store, with its path and the remedy; errors of `open`.
    static func check<Result>(_ path: String, thenOpen open: () throws -> Result) throws -> Result {
        let check = LogOwnership(path: path)
        return try gate.withLock { _ in
            if !check.isOpenHere && !check.isOpenElsewhere {
                let before = check.state
                do {
                    try check.compareJournal()
                    try check.compareLog()
                } catch {
                    // A process that opened the store in the meantime knew its log, and may have changed the files.
                    if before == check.state && !check.isOpenElsewhere { throw error }
                }
            }
            return try open()
        }
    }

    /// Inode number, size and time of the store's file, its log and its journal. The change time is left out, because
    /// SQLite sets the owner of a log that root opens.
    private var state: [[Int64]?] {
        ["", "-wal", "-journal"].map {
            FileFacts(path + $0).map { [Int64(bitPattern: $0.node), $0.size, $0.modified] }
        }
    }

    private func compareJournal() throws {
        guard JournalContents.isLeft(at: path + "-journal") else { return }
        guard let journal = JournalContents(path: path + "-journal") else {
            throw foreign("-journal", "it is not an SQLite journal")
        }
        if let reason = journal.contradiction(with: path) { throw foreign("-journal", reason) }
    }

    private func compareLog() throws {
        guard let standing = LogStanding(path), !standing.isOwn, let contents = LogContents(path: path + "-wal") else {
            return
        }
        let header = DatabaseHeader(fileAt: path)
        if let header, let first = contents.heads.first, !contents.heads.contains(header), !header.canPrecede(first) {
            throw foreign("-wal", "it was written for another state of the store")
        }
        if standing.isLeftBehind(contents) { throw leftBehind }
        try compareContents(contents)
    }

    private func compareContents(_ contents: LogContents) throws {
        // A new store may still be entirely in its log, and the code that opens the store reports a damaged one.
        guard let alone = try? Connection(path: path, access: .immutable) else { return }
        defer { alone.close() }
        guard case .found(let identifier) = Self.identifier(alone), let size = try? alone.integer("PRAGMA page_count")
        else { return }
        // A commit that changes the database's length, or the table that a page belongs to, writes the first page.
        let changesStructure = contents.firstBytes[1] != nil
        if !changesStructure {
            guard contents.size == size else {
                throw foreign("-wal", "it was written for a file of \(contents.size) pages, but this file has \(size)")
            }
            if let page = otherKind(contents) { throw foreign("-wal", "it has other tables (page \(page))") }
        }
        // An index (`-shm`) that belongs to this log must not be changed, so the check then opens the store read-only.
        let hasIndex = LogState(indexAt: path + "-shm")?.salts == LogContents.salts(ofLogAt: path + "-wal")
        guard let logged = try? Connection(path: path, access: hasIndex ? .readOnly : .recovering) else { return }
        defer { logged.close() }
        let isSmall = max(size, contents.size) <= Self.checkedPages
        switch Self.identifier(logged) {
        // Opening the store reports why it cannot be read.
        case .unreadable: return
        case .damaged(let text): throw foreign("-wal", "it would damage the store (\(text))")
        case .missing: throw foreign("-wal", "it would remove the metadata of the store")
        case .found(identifier):
            guard isSmall else { return }
            // If the log lacks the first page, its change counter is unknown. Then indexes have to match the rows, too.
            try compare(logged, alone, changesStructure ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)")
        case .found(let other):
            // A store may get another UUID. The log is then its own if the rest matches and not every page is new.
            guard isSmall, contents.size != contents.firstBytes.count else {
                throw foreign("-wal", "it was written for the store \(other), but this store is \(identifier)")
            }
            try compare(logged, alone, "PRAGMA integrity_check(1)")
        }
    }

    private func compare(_ logged: Connection, _ alone: Connection, _ check: String) throws {
        // Indexes may use these functions.
        for connection in [logged, alone] { try? SQLFunctions.register(on: connection) }
        guard let damage = Self.damage(logged, check), Self.damage(alone, check) == nil else { return }
        throw foreign("-wal", "it would damage the store (\(damage))")
    }

    /// Returns a page of a table or index whose kind differs between log and file.
    private func otherKind(_ contents: LogContents) -> UInt32? {
        guard let file = ReadableFile(path), let pageSize = DatabaseHeader(fileAt: path)?.pageSize else { return nil }
        return contents.firstBytes.keys.sorted().first { page in
            guard let kind = file.read(1, at: Int(page - 1) * pageSize).first, Self.kinds.contains(kind) else {
                return false
            }
            return contents.firstBytes[page] != kind
        }
    }

    /// The first bytes of pages of tables and indexes, from the description of SQLite's file format.
    private static let kinds: Set<UInt8> = [2, 5, 10, 13]

    private enum Identifier {
        case found(String)
        case missing
        case damaged(String)
        case unreadable
    }

    private static func identifier(_ connection: Connection) -> Identifier {
        do {
            guard try connection.hasTable("Z_METADATA") else { return .missing }
            let value = try connection.value("SELECT Z_UUID FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
            guard case .text(let text)? = value else { return .missing }
            return .found(text)
        } catch let error as SQLiteError {
            let isDamage = error.kind == .corrupt || error.kind == .notADatabase
            return isDamage ? .damaged(error.message) : .unreadable
        } catch {
            return .unreadable
        }
    }

    /// Returns the damage that SQLite finds in the pages, if any.
    private static func damage(_ connection: Connection, _ check: String) -> String? {
        do {
            guard case .text(let text)? = try connection.value(check), text != "ok" else { return nil }
            return text.split(separator: "\n").last.map(String.init)
        } catch let error as SQLiteError where error.kind == .corrupt {
            return error.message
        } catch {
            return nil
        }
    }

    private func foreign(_ suffix: String, _ reason: String) -> NSError {
        let file = path + suffix
        let (name, loss) =
            suffix == "-wal"
            ? ("log", "it may have the last saved changes") : ("journal", "the store may be damaged without it")
        return CoreDataError.make(
            259,
            "Cannot open the store \(path): its \(name) \(file) belongs to another store or is damaged: \(reason). "
                + "Move it away to open the store without it (\(SideFiles.moving(file))), but keep it: \(loss). "
                + "To apply the \(name) to the file anyway, run sqlite3 \(SideFiles.quoted(path)) 'PRAGMA wal_checkpoint' "
                + "and open the store again.", userInfo: [NSFilePathErrorKey: file])
    }

    private var leftBehind: NSError {
        CoreDataError.make(
            259,
            "Cannot open the store \(path): its file was replaced or overwritten after the log \(path)-wal was "
                + "written, so the log is probably that of the previous file. To open the file without the log, run "
                + "\(SideFiles.moving(path + "-wal")) and open it again. To apply the log anyway, mark it as newer: run "
                + "touch \(SideFiles.quoted(path + "-wal")) and open the store again.",
            userInfo: [NSFilePathErrorKey: path + "-wal"])
    }

    // MARK: Who has the store open

    /// True if this process has the file open in any way.
    var isOpenHere: Bool {
        guard FileFacts(path) != nil, let descriptors = Self.descriptors(of: path) else { return true }
        return !descriptors.isEmpty
    }

    /// True if this process has the file open and no other follows its log. Opens nothing: closing a file drops the
    /// locks that SQLite holds on it for this process.
    var isOpenHereAlone: Bool {
        guard let file = Self.descriptors(of: path)?.first else { return false }
        let index = Self.descriptors(of: path + "-shm")?.first
        return !Self.isLockedElsewhere(file, from: 0, length: 0)
            && index.map { !Self.isLockedElsewhere($0, from: 128, length: 1) } ?? true
    }

    /// This process's descriptors of the file; `nil` if they cannot be listed.
    private static func descriptors(of path: String) -> [Int32]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
        guard let own = FileFacts(path) else { return [] }
        return names.compactMap { Int32($0) }.filter { FileFacts(descriptor: $0)?.isSameFile(as: own) == true }
    }

    /// Returns true if another process holds a lock on a part of the file. Locks of this process do not count.
    private static func isLockedElsewhere(_ descriptor: Int32, from start: Int, length: Int) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = start
        lock.l_len = length
        return fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }

    /// True if another process has the store open. A process that follows the log locks a byte of its index, and one
    /// that writes with a journal locks a byte of the file.
    private var isOpenElsewhere: Bool {
        isLocked(path, at: 0x4000_0001) || isLocked(path + "-shm", at: 128)
    }

    private func isLocked(_ path: String, at place: Int) -> Bool {
        guard let file = ReadableFile(path) else { return FileFacts(path) != nil }
        return Self.isLockedElsewhere(file.descriptor, from: place, length: 1)
    }
}
