import Foundation
import SQLiteAccess

/// A note of the database file for which a write-ahead log is written, since a log does not name its database.
///
/// It is an extended attribute of the log's file, so that the store needs no further file. It contains the log's inode
/// number, so that a copy is recognised. Programs of this framework write it when a log begins again and after a
/// checkpoint. Other programs write none.
struct LogNote: Equatable {
    private static let name = "user.coredata.log"
    private static let form = "1"

    /// The inode number of the log's file.
    let log: UInt64
    /// The round of the log for which the note was written.
    let salts: String
    /// The inode number of the database file. The properties below are from this file, too.
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

    /// - Parameter path: the log's path; `nil` if it has no note, or one copied from another log.
    init?(ofLogAt path: String, _ facts: FileFacts) {
        self.init(at: path)
        if log != facts.node { return nil }
    }

    /// The note of the original log in a copy of it.
    ///
    /// - Parameter path: the log's path; `nil` if it has no note, or one that was written for this log.
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

    /// Writes the note of a log that has begun, if it differs. Takes some microseconds.
    static func write(salts: [UInt8], main: FileFacts, besideLogOf store: String) {
        let path = store + "-wal"
        guard let log = FileFacts(path), log.size > 0 else { return }
        LogNote(
            log: log.node, salts: text(salts), main: main.node, size: main.size, modified: main.modified,
            changed: main.changed, access: main.access
        ).write(besideLogAt: path, log)
    }

    /// Records that the database file no longer belongs to the log, because another program overwrote it. Commits may
    /// have been added to the log since, so that the times of the two files mean nothing.
    ///
    /// - Parameter salts: the salts of the log's current round.
    static func disown(salts: [UInt8], logOf store: String) {
        let path = store + "-wal"
        guard let log = FileFacts(path), log.size > 0 else { return }
        LogNote(
            log: log.node, salts: text(salts), main: 0, size: noSize, modified: log.modified, changed: 0, access: "-"
        ).write(besideLogAt: path, log)
    }

    /// - Parameter facts: the facts of the log's file.
    private func write(besideLogAt path: String, _ facts: FileFacts) {
        guard self != LogNote(ofLogAt: path, facts) else { return }
        let parts = [Self.form, "\(log)", salts, "\(main)", "\(size)", "\(modified)", "\(changed)", access]
        FileNotes.write(parts.joined(separator: " "), Self.name, of: path)
    }

    /// The file size in a note of a log without a database file.
    private static let noSize: Int64 = -1

    /// True if the log was recorded to belong to no file, and neither written nor touched since.
    func disowns(_ log: FileFacts) -> Bool { size == Self.noSize && modified == log.modified }

    /// True if the database file can be a copy of the file in the note, by its size and time. Other file systems store
    /// times less exactly, some only to two seconds.
    ///
    /// - Parameter log: the facts of the copied log.
    func tells(ofCopied file: FileFacts, log: FileFacts) -> Bool {
        if size == Self.noSize { return !disowns(log) }
        return file.size == size && file.modified.subtractingUpToLimits(modified).magnitude < 2_000_000_000
    }

    /// Returns true if the database file is unchanged.
    ///
    /// Its change time also changes with its permissions and names. A later change without these, while the log was not
    /// touched, was made by a copy that kept the modification time.
    func tells(of file: FileFacts, log: FileFacts) -> Bool {
        guard file.node == main, file.size == size, file.modified == modified else { return false }
        return file.changed == changed || file.access != access || file.changed <= log.changed
            || log.changed.subtractingUpToLimits(log.modified) > Self.noteTime
    }

    /// The maximum time between a commit and its note, in nanoseconds. Writing the note changes the log's change time.
    private static let noteTime: Int64 = 100_000_000
}
