import Foundation
import SQLiteAccess
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// SQLite plays back any write-ahead log that is whole, whichever database it was written for: nothing in a log names its
// database. A log that was copied beside the wrong store would so replace a part of it, or all of it, without a word. What
// can be told without reading everything is compared here, before anything is written: how the two files came there
// (`LogStanding`); and, where that does not say it, the store as its main file alone tells it, and as it would be with the log.
//
// The main file alone is read without locks, and closing it would drop the locks that SQLite holds on it for this process.
// So this is only done while no process has the store open; a process that has it open knew its log.

/// Whether the write-ahead log beside a store belongs to it.
struct LogOwnership {
    let path: String

    /// A larger store is not read through: that would take longer than opening may.
    private static let checkedPages: Int64 = 4096

    private static let gate = Mutex(())

    /// Runs `open` once the log has been looked at, where no process has the store open. Writes nothing and removes
    /// nothing.
    ///
    /// Where it cannot be told who has files open (no `/proc`), nothing is looked at.
    ///
    /// - Throws: 259 for a log of another store, with the file's path and what to do; what `open` throws.
    static func check<Result>(_ path: String, thenOpen open: () throws -> Result) throws -> Result {
        try gate.withLock { _ in
            let check = LogOwnership(path: path)
            if !check.isOpenHere && !check.isOpenElsewhere {
                let before = check.state
                do {
                    try check.compare()
                } catch {
                    // A process that opened the store meanwhile knew its log, and may have changed what was compared.
                    if before == check.state && !check.isOpenElsewhere { throw error }
                }
            }
            return try open()
        }
    }

    /// Length and time of the store's file and of its log.
    private var state: [Int] {
        [path, path + "-wal"].flatMap { path in
            var facts = stat()
            guard stat(path, &facts) == 0 else { return [-1] }
            return [Int(facts.st_size), facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
        }
    }

    /// Compares the store without and with its log.
    private func compare() throws {
        let standing = LogStanding(path)
        if standing?.isOwn == true { return }
        if let standing, let contents = LogContents(path: path + "-wal"), standing.isLeftBehind(contents) {
            throw leftBehind
        }
        // A new store may still be in its log as a whole, and a damaged one is reported by the code that opens it.
        guard let alone = try? Connection(path: path, access: .immutable) else { return }
        defer { alone.close() }
        guard case .found(let identifier) = Self.identifier(alone),
            let size = try? alone.integer("PRAGMA page_count"),
            let contents = LogContents(path: path + "-wal")
        else { return }
        // Whatever makes a database longer or shorter, or another page a part of a table, writes its first page.
        let changesStructure = contents.firstBytes[1] != nil
        if !changesStructure {
            guard contents.size == size else {
                throw foreign("it was written for a file of \(contents.size) pages, this one has \(size)")
            }
            if let page = otherKind(contents) { throw foreign("it has other tables (page \(page))") }
        }
        guard let logged = try? Connection(path: path, access: .recovering) else { return }
        defer { logged.close() }
        switch Self.identifier(logged) {
        // The opening says itself what keeps it from reading.
        case .unreadable: return
        case .damaged(let text): throw foreign("with it the store would be damaged (\(text))")
        case .missing: throw foreign("with it the store would have no metadata")
        case .found(identifier):
            guard changesStructure, size <= Self.checkedPages else { return }
            try compare(logged, alone, "PRAGMA quick_check(1)")
        case .found(let other):
            // A store may be given another UUID. Then the rest is its own: it fits, and not everything is written anew.
            if contents.size == contents.firstBytes.count {
                throw foreign("it was written for the store \(other), this one is \(identifier)")
            }
            try compare(logged, alone, "PRAGMA integrity_check(1)")
        }
    }

    private func compare(_ logged: Connection, _ alone: Connection, _ check: String) throws {
        guard let damage = Self.damage(logged, check), Self.damage(alone, check) == nil else { return }
        throw foreign("with it the store would be damaged (\(damage))")
    }

    /// A page of a table or an index that is of another kind in the log than in the file.
    private func otherKind(_ contents: LogContents) -> UInt32? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var header = [UInt8](repeating: 0, count: 18)
        guard pread(file, &header, 18, 0) == 18 else { return nil }
        let stored = Int64(header[16]) << 8 | Int64(header[17])
        let pageSize = stored == 1 ? 65536 : stored
        return contents.firstBytes.keys.sorted().first { page in
            var kind: UInt8 = 0
            guard pread(file, &kind, 1, off_t(Int64(page - 1) * pageSize)) == 1, Self.kinds.contains(kind) else {
                return false
            }
            return contents.firstBytes[page] != kind
        }
    }

    /// The first bytes of pages of tables and indexes, as SQLite's description of its files has them.
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

    /// What SQLite finds wrong with the pages, if anything.
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

    private func foreign(_ reason: String) -> NSError {
        CoreDataError.make(
            259,
            "Cannot open the store \(path): the log \(path)-wal beside it is not its own, or is damaged: \(reason). "
                + "Move the log to open the store without it, and keep it: if it is the store's own after all, what was "
                + "saved last is only there: \(moving)",
            userInfo: [NSFilePathErrorKey: path + "-wal"])
    }

    private var leftBehind: NSError {
        CoreDataError.make(
            259,
            "Cannot open the store \(path): its file was replaced or written over after the log \(path)-wal was "
                + "written, so the log is that of what stood there before. To open the file without the log: \(moving). "
                + "To have the log written into the file all the same: touch \(Self.quoted(path + "-wal")).",
            userInfo: [NSFilePathErrorKey: path + "-wal"])
    }

    /// The command that takes the log away, to a name that is free.
    private var moving: String {
        var (free, number) = (path + "-wal.old", 2)
        while FileFacts(free) != nil, number < 1_000 { (free, number) = (path + "-wal.old\(number)", number + 1) }
        return "mv -n \(Self.quoted(path + "-wal")) \(Self.quoted(free))"
    }

    /// A path as shells read it.
    private static func quoted(_ path: String) -> String {
        "'" + path.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    // MARK: Who has the store open

    /// Whether this process has the file open, by whatever means.
    var isOpenHere: Bool {
        var own = stat()
        guard stat(path, &own) == 0,
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return true }
        return descriptors.compactMap { Int32($0) }.contains { descriptor in
            var facts = stat()
            return fstat(descriptor, &facts) == 0 && facts.st_dev == own.st_dev && facts.st_ino == own.st_ino
        }
    }

    /// Whether another process does: each that follows the log holds a lock on this byte of its index.
    private var isOpenElsewhere: Bool {
        let index = open(path + "-shm", O_RDONLY | O_CLOEXEC)
        guard index >= 0 else { return access(path + "-shm", F_OK) == 0 }
        defer { close(index) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 128
        lock.l_len = 1
        return fcntl(index, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }
}
