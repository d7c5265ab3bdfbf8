import Foundation
import SQLiteAccess
import Glibc

// When a store is put back from a copy, the log of the one that stood there may stay behind: whole, and for a file of the same
// name and often the same length. What tells it is that the file was written after the log, and not from it:
//
// - The note beside the log (`LogNote`) says how the file was when the log was begun or last copied into it. If it is still
//   so, the log is its own.
//   The note may also say that a program which had both open saw the file written over: then the times of the two say nothing.
// - Else the copying of the log may have changed it. Then the file holds pages of the log, as far as the log's index says,
//   or all of them, or, where it was cut off, at least the first page, which is copied first.
// - Else, if it was changed later than the log, it is another one: put there under its name, or written over it. A log that
//   was copied together with its file is judged by the note that the copy brought with it, and where there is none, by its
//   pages alone (`LogOwnership`): in which order the two were written says nothing then.
//
// All is read while no process has the store open.

/// How a store's file and the log beside it belong together, by their times and by what the file holds of the log.
struct LogStanding {
    private let path: String
    private let main: FileFacts
    private let log: FileFacts
    private let salts: [UInt8]
    private let note: LogNote?

    /// - Returns: `nil` where one of the files is not there or is no log.
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

    /// True if the note is about this round of the log.
    private var isNoted: Bool { note?.salts == LogNote.text(salts) }

    /// True if the log is certainly the file's own. A few system calls.
    var isOwn: Bool { isNoted && note?.tells(of: main, log: log) == true }

    /// Returns true if the file certainly was put there, or written over, after the log was written.
    func isLeftBehind(_ contents: LogContents) -> Bool {
        guard isDisowned || wasChangedAfterLog else { return false }
        return !holds(contents)
    }

    /// True if a program that had both open saw that the file was written over.
    private var isDisowned: Bool { isNoted && note?.disowns(log) == true }

    private var wasChangedAfterLog: Bool {
        if let note {
            // Permissions that were set say nothing of a file that is the one of the note.
            let isOther = isNoted || note.main != main.node
            return (isOther ? max(main.modified, main.changed) : main.modified) >= log.modified
        }
        guard let birth = FileNotes.birth(of: path), let logBirth = FileNotes.birth(of: path + "-wal") else {
            return false
        }
        if let brought = LogNote(broughtByLogAt: path + "-wal", log), brought.salts == LogNote.text(salts) {
            // A copy that kept the times has them from before it was made.
            return log.modified < logBirth && !brought.tells(ofCopied: main, log: log)
                && max(main.modified, main.changed) >= log.modified
        }
        // Of a log without a note little says that it was not copied with its file, in any order: that its file was there before
        // it, or that it was written for a while before the file was put there.
        if birth <= logBirth { return main.modified > log.modified }
        return birth > log.modified && log.modified.subtractingUpToLimits(logBirth) > Self.copyingTime
    }

    /// The longest time for copying a log: one that was written for longer was written where it is.
    private static let copyingTime: Int64 = 60_000_000_000

    /// Returns true if the file is as the copying of the log leaves it, done or cut off.
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
