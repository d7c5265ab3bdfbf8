import Foundation
import SQLiteAccess
import Glibc

// A token for the content of a store. It must change with every commit of any process, with or without a history, and
// with nothing else, because a changed token discards caches. SQLite has no such number: in WAL mode the counter in the
// main file does not change. So:
//
// - While the write-ahead log has commits, the token is the end of the log in its index: salts, checksum and number of
//   the last frame. The log's file may have more complete frames, which a killed program left.
// - When the log is empty, the token is the main file's change counter, size and time.
//
// Closing a store moves the log's content into the main file, which would change the token although nothing changed.
// The process that closes the store last therefore writes a note to the user's caches, which maps the present state of
// the main file to the previous token. If that note is lost or does not match, a cache is computed again.

/// Makes the change tokens of an open store.
final class ChangeToken {
    private let path: String
    private let identifier: String
    private var wasAsked = false
    /// The note of the process that closed the store last, read when it is first needed.
    private lazy var note: Note? = readNote()

    private struct Note: Codable {
        let mainFile: String
        let token: String
    }

    init(path: String, identifier: String) {
        self.path = path
        self.identifier = identifier
    }

    /// Returns the token of the store's current state. Take it before reading the content that it identifies.
    func current(_ connection: Connection) throws -> String {
        if path == URL.memoryPlace.path { return "memory-\(identifier)-\(connection.totalChanges)" }
        wasAsked = true
        // Another process may move the log into the main file between two reads, so both reads must agree.
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

    /// Returns the end of the log from its index. Reads the frames if the index cannot be used, as by a reader while no
    /// program writes. `nil` if the file is missing.
    private func end(_ connection: Connection) -> LogEnd? {
        if connection.access == .immutable { return LogEnd.none }
        guard let files = connection.watch as? OpenFiles else { return nil }
        return files.logEnd(connection) ?? LogContents.end(ofLogAt: path + "-wal")
    }

    /// Called before the store is closed. If this is the last connection, moves the log into the main file and writes a
    /// note that the content is unchanged. An error is ignored, because it only costs a cache.
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
            throw CoreDataError.make(260, "Cannot read the store \(path): the file was moved or deleted.")
        }
        let counter = try connection.fileChangeCounter()
        return "file-\(facts.st_ino)-\(facts.st_size)-\(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)-\(counter)"
    }

    // MARK: The note

    /// The folder for the notes of all stores of this user, one small file each.
    static var notesFolder: URL {
        URL(fileURLWithPath: OwnFolder.caches).appendingPathComponent(".CoreDataCaches/ChangeTokens", isDirectory: true)
    }

    /// The maximum number of notes. A lost note costs a cache.
    private static let keptNotes = 256

    /// Removes the oldest notes. Nothing shows if their stores still exist.
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

    /// The hash of the path, because copies of a store have the same UUID.
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
