import Foundation
import SQLiteAccess
import Glibc

// A token for the content of a store: it has to change with every commit, of any process and with or without a history,
// and with nothing else, or caches would be thrown away for nothing. SQLite has no such number: in WAL mode the
// counter in the main file stands still. So:
//
// - While there are commits in the write-ahead log, the log's end is the token, as its index has it: salts, checksum and number of
//   the last frame. The log's file may have whole frames behind it that a killed program left.
// - When the log is empty, what is known of the main file is: its change counter, size and time.
//
// Closing a store moves the log's content into the main file, and the second kind of token would follow the first though
// nothing changed. Therefore the process that closes the store last writes down, in the user's caches, that the main
// file as it is now is the content of the token before. If that note is lost or does not fit, a cache is recomputed:
// never more.

/// Makes the change tokens of one open store.
final class ChangeToken {
    private let path: String
    private let identifier: String
    private var wasAsked = false
    /// The note of the process that closed the store last; read when it is needed first.
    private lazy var note: Note? = readNote()

    private struct Note: Codable {
        let mainFile: String
        let token: String
    }

    init(path: String, identifier: String) {
        self.path = path
        self.identifier = identifier
    }

    /// The token of the store as it is now. Take it before reading what it shall vouch for.
    func current(_ connection: Connection) throws -> String {
        if path == URL.memoryPlace.path { return "memory-\(identifier)-\(connection.totalChanges)" }
        wasAsked = true
        // Another process may move the log into the main file between two looks: the two must agree.
        for _ in 0..<8 {
            let main = try mainFile(connection)
            guard let end = end(connection) else { continue }
            if end.frames > 0 {
                let count = UInt64(end.frames).bigEndianBytes
                return "log-\(LogNote.text(end.salts + end.checksum + count))"
            }
            guard try mainFile(connection) == main, self.end(connection)?.frames == 0 else { continue }
            return note?.mainFile == main ? note?.token ?? main : main
        }
        return "unsteady-\(UUID().uuidString)"
    }

    /// The end of the log: by its index, or where that is not to be used, as by a reader while no program writes, by its frames.
    /// `nil` for a file that is gone.
    private func end(_ connection: Connection) -> LogEnd? {
        if connection.access == .immutable { return LogEnd.none }
        guard let files = connection.watch as? OpenFiles else { return nil }
        return files.logEnd(connection) ?? LogContents.end(ofLogAt: path + "-wal")
    }

    /// Called before the store is closed: if it is the last one open, moves the log into the main file and notes that the
    /// content stays what it was. A failure costs a cache and no more, so it is not reported.
    func prepareToClose(_ connection: Connection) {
        guard wasAsked, (end(connection)?.frames ?? 0) > 0 else { return }
        do {
            let version = try connection.dataVersion()
            let token = try current(connection)
            connection.setBusyTimeout(0)
            try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            guard try connection.dataVersion() == version, end(connection)?.frames == 0 else { return }
            let note = Note(mainFile: try mainFile(connection), token: token)
            let file = noteFile
            try OwnFolder.create(file.deletingLastPathComponent().path)
            try JSONEncoder().encode(note).write(to: file, options: .atomic)
            Self.removeOldNotes()
        } catch {
            return
        }
    }

    private func mainFile(_ connection: Connection) throws -> String {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            throw CoreDataError.make(260, "Cannot read the store \(path): the file is gone.")
        }
        let counter = try connection.fileChangeCounter()
        return "file-\(facts.st_ino)-\(facts.st_size)-\(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)-\(counter)"
    }

    // MARK: The note

    /// The folder of the notes of all stores of this user, one small file each.
    static var notesFolder: URL {
        URL(fileURLWithPath: OwnFolder.caches).appendingPathComponent(".CoreDataCaches/ChangeTokens", isDirectory: true)
    }

    /// The number of stores with notes. A lost note costs a cache.
    private static let keptNotes = 256

    /// Removes the oldest notes: their stores may be gone, and nothing else tells.
    private static func removeOldNotes() {
        let files =
            FileManager.default.enumerator(atPath: notesFolder.path)?.compactMap {
                ($0 as? String).map { notesFolder.appendingPathComponent($0) }
            } ?? []
        guard files.count > keptNotes else { return }
        let dated = files.map { (file: $0, time: FileFacts($0.path)?.modified ?? 0) }.sorted { $0.time < $1.time }
        for (file, _) in dated.prefix(files.count - keptNotes / 2) { PlainFile.remove(file.path) }
    }

    private var noteFile: URL { Self.notesFolder.appendingPathComponent("\(identifier)-\(pathHash)") }

    /// Copies of one store have the same UUID.
    private var pathHash: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }

    private func readNote() -> Note? {
        guard PlainFile.kind(noteFile.path) == .plain, let data = try? Data(contentsOf: noteFile) else { return nil }
        return try? JSONDecoder().decode(Note.self, from: data)
    }
}
