import Foundation
import SQLiteAccess

/// A note beside a write-ahead log, of the file for which it is written: nothing in a log names its database.
///
/// It is an extended attribute of the log's file, so that there is no further file beside the store; it names the log's own
/// number, so that a copied one is known for one. It is written by each program of this framework when a log begins anew and
/// when it was copied into the file. Other programs write none.
struct LogNote: Equatable {
    private static let name = "user.coredata.log"
    private static let form = "1"

    /// The log's file.
    let log: UInt64
    /// The round of the log that the note is about.
    let salts: String
    /// The database's file, as it was then.
    let main: UInt64
    let size: Int64
    let modified: Int64
    let changed: Int64
    let access: String

    private init(
        log: UInt64, salts: String, main: UInt64, size: Int64, modified: Int64, changed: Int64, access: String
    ) {
        self.log = log
        self.salts = salts
        self.main = main
        self.size = size
        self.modified = modified
        self.changed = changed
        self.access = access
    }

    static func text(_ salts: some Sequence<UInt8>) -> String {
        salts.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// - Parameter path: the log's; `nil` where it has no note of its own.
    init?(ofLogAt path: String, _ facts: FileFacts) {
        self.init(at: path)
        if log != facts.node { return nil }
    }

    /// The note that a copy of a log brought with it, of the log that was copied.
    ///
    /// - Parameter path: the log's; `nil` where it has no note, or one of its own.
    init?(broughtByLogAt path: String, _ facts: FileFacts) {
        self.init(at: path)
        if log == facts.node { return nil }
    }

    private init?(at path: String) {
        guard let parts = FileNotes.read(Self.name, of: path)?.split(separator: " "), parts.count == 8,
            parts[0] == Self.form, let log = UInt64(parts[1]), let main = UInt64(parts[3]),
            let size = Int64(parts[4]), let modified = Int64(parts[5]), let changed = Int64(parts[6])
        else { return nil }
        self.log = log
        salts = String(parts[2])
        self.main = main
        self.size = size
        self.modified = modified
        self.changed = changed
        access = String(parts[7])
    }

    /// Writes the note of a log that was begun, where it says something new. Some microseconds.
    static func write(salts: [UInt8], main: FileFacts, besideLogOf store: String) {
        let path = store + "-wal"
        guard let log = FileFacts(path), log.size > 0 else { return }
        LogNote(
            log: log.node, salts: text(salts), main: main.node, size: main.size, modified: main.modified,
            changed: main.changed, access: main.access
        ).write(besideLogAt: path, log)
    }

    /// Says of the log beside a store that the file there is not its own any more: another program wrote over it. Commits
    /// may have gone into the log after that, so that the times of the two say nothing.
    ///
    /// - Parameter salts: those of the log's current round.
    static func disown(salts: [UInt8], logOf store: String) {
        let path = store + "-wal"
        guard let log = FileFacts(path), log.size > 0 else { return }
        LogNote(
            log: log.node, salts: text(salts), main: 0, size: noSize, modified: log.modified, changed: 0, access: "-"
        ).write(besideLogAt: path, log)
    }

    /// - Parameter facts: those of the log's file.
    private func write(besideLogAt path: String, _ facts: FileFacts) {
        guard self != LogNote(ofLogAt: path, facts) else { return }
        let parts = [Self.form, "\(log)", salts, "\(main)", "\(size)", "\(modified)", "\(changed)", access]
        FileNotes.write(parts.joined(separator: " "), Self.name, of: path)
    }

    /// The size of the file in a note of a log that has none.
    private static let noSize: Int64 = -1

    /// Whether the log was said to belong to no file, and neither written nor touched since.
    func disowns(_ log: FileFacts) -> Bool { size == Self.noSize && modified == log.modified }

    /// Whether the database's file can be a copy of the one of the note, by its length and time. Other file systems keep times less
    /// exactly, the coarsest of them every other second.
    ///
    /// - Parameter log: the copy of the log.
    func tells(ofCopied file: FileFacts, log: FileFacts) -> Bool {
        if size == Self.noSize { return !disowns(log) }
        return file.size == size && file.modified.subtractingUpToLimits(modified).magnitude < 2_000_000_000
    }

    /// Returns true if the database's file is as it was.
    ///
    /// Its second time changes with its permissions and names too. A change that these do not explain, later than the log's
    /// while the log was left alone, is that of a copy which kept the first time.
    func tells(of file: FileFacts, log: FileFacts) -> Bool {
        guard file.node == main, file.size == size, file.modified == modified else { return false }
        return file.changed == changed || file.access != access || file.changed <= log.changed
            || log.changed.subtractingUpToLimits(log.modified) > Self.noteTime
    }

    /// How long after a commit its note may be written, in nanoseconds: that changes the log's second time, too.
    private static let noteTime: Int64 = 100_000_000
}
