import Foundation
import SQLiteAccess
import Glibc

// When a store is restored from a copy, the log of the previous store may remain. It is complete, and for a file of the
// same name and often the same length. It is recognised because the file was written after the log, but not from it:
//
// - The note of the log (`LogNote`) has the file's state when the log was begun or last copied into the file. If the
//   file is unchanged, the log is its own.
//   The note may also record that a program with both open saw the file overwritten. Their times then mean nothing.
// - Otherwise copying the log may have changed the file. Then it has pages of the log, up to the frame in the log's
//   index, or all of them, or, after an interruption, at least the first page, which is copied first.
// - Otherwise, a file that changed later than the log is another one, moved to its path or written over it. A log that
//   was copied with its file is judged by the note that came with the copy. If there is none, only its pages count
//   (`LogOwnership`), because the order in which the copies were written means nothing.
//
// Everything is read while no process has the store open.

/// Relates a store's file to its log, by their times and by the log's pages in the file.
struct LogStanding {
    private let path: String
    private let main: FileFacts
    private let log: FileFacts
    private let salts: [UInt8]
    private let note: LogNote?

    /// - Returns: `nil` if one of the files is missing, or the log is invalid.
    init?(_ path: String) {
        guard let main = FileFacts(path), let log = FileFacts(path + "-wal"),
            let salts = LogContents.salts(ofLogAt: path + "-wal")
        else { return nil }
        self.path = path
        self.main = main
        self.log = log
        self.salts = salts
        note = LogNote(ofLogAt: path + "-wal", log)
    }

    /// True if the note was written for this round of the log.
    private var isNoted: Bool { note?.salts == LogNote.text(salts) }

    /// True if the log is certainly the file's own. Takes a few system calls.
    var isOwn: Bool { isNoted && note?.tells(of: main, log: log) == true }

    /// Returns true if the file certainly was put there or overwritten after the log was written.
    func isLeftBehind(_ contents: LogContents) -> Bool {
        guard isDisowned || wasChangedAfterLog else { return false }
        return !holds(contents)
    }

    /// True if a program that had both open saw the file overwritten.
    private var isDisowned: Bool { isNoted && note?.disowns(log) == true }

    private var wasChangedAfterLog: Bool {
        if let note {
            // Changed permissions mean nothing if the file is that of the note.
            let isOther = isNoted || note.main != main.node
            return (isOther ? max(main.modified, main.changed) : main.modified) >= log.modified
        }
        guard let birth = FileNotes.birth(of: path), let logBirth = FileNotes.birth(of: path + "-wal") else {
            return false
        }
        if let brought = LogNote(broughtByLogAt: path + "-wal", log), brought.salts == LogNote.text(salts) {
            // A copy that kept the times has times from before it was made.
            return log.modified < logBirth && !brought.tells(ofCopied: main, log: log)
                && max(main.modified, main.changed) >= log.modified
        }
        // For a log without a note, only two facts show that it was not copied with its file, in either order: the file
        // existed first, or the log was written for some time before the file was put there.
        if birth <= logBirth { return main.modified > log.modified }
        return birth > log.modified && log.modified.subtractingUpToLimits(logBirth) > Self.copyingTime
    }

    /// The maximum time for copying a log. A log that was written for longer was not copied.
    private static let copyingTime: Int64 = 60_000_000_000

    /// Returns true if the file is as a complete or interrupted copying of the log leaves it.
    private func holds(_ contents: LogContents) -> Bool {
        if let header = DatabaseHeader(fileAt: path), contents.heads.contains(header) { return true }
        guard let comparison = LogComparison(contents, file: path, log: path + "-wal") else { return false }
        if main.size == contents.size * Int64(contents.pageSize), comparison.holds(contents.committedPages.count) {
            return true
        }
        guard let index = LogState(indexAt: path + "-shm"), index.salts == salts, index.begun > 0 else { return false }
        return index.copied > 0 && comparison.holds(Int(index.copied), orUpTo: Int(index.begun))
    }
}
