import Foundation
import SQLiteAccess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// When a store is put back from a copy, the log of the one that stood there may stay behind: whole, and for a file of the same
// name and often the same length. What tells it is that the file was written after the log, and not from it:
//
// - The note beside the log (`LogNote`) says how the file was when the log was begun or last copied into it. If it is still
//   so, the log is its own.
//   The note may also say that a program which had both open saw the file written over: then the times of the two say nothing.
// - Else the copying of the log may have changed it. Then the file holds pages of the log, as far as the log's index says,
//   or all of them.
// - Else, if it was changed later than the log, it is another one: put there under its name, or written over it. A log that
//   was copied together with its file is judged by its pages alone (`LogOwnership`): in which order the two were written
//   says nothing then.
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
            let header = Self.bytes(of: path + "-wal", 32)
        else { return nil }
        self.path = path
        self.main = main
        self.log = log
        salts = Array(header[16..<24])
        note = LogNote(ofLogAt: path + "-wal", log)
    }

    /// Whether the note tells of this round of the log.
    private var isNoted: Bool { note?.salts == LogNote.text(salts) }

    /// Whether the log is certainly the file's own. A few system calls.
    var isOwn: Bool { isNoted && note?.tells(of: main, log: log) == true }

    /// Whether the file certainly was put there, or written over, after the log was written.
    func isLeftBehind(_ contents: LogContents) -> Bool {
        guard isDisowned || wasChangedAfterLog else { return false }
        return !holds(contents)
    }

    /// Whether a program that had both open saw that the file was written over.
    private var isDisowned: Bool { isNoted && note?.disowns(log) == true }

    private var wasChangedAfterLog: Bool {
        if let note {
            // Permissions that were set say nothing of a file that is the one of the note.
            let isOther = isNoted || note.main != main.node
            return (isOther ? max(main.modified, main.changed) : main.modified) >= log.modified
        }
        // Of a log without a note nothing says that it was not copied. Only the log of a file that was there before it.
        guard main.modified > log.modified, let birth = FileNotes.birth(of: path),
            let logBirth = FileNotes.birth(of: path + "-wal")
        else { return false }
        return birth <= logBirth
    }

    /// Whether the file is as the copying of the log leaves it, done or cut off.
    private func holds(_ contents: LogContents) -> Bool {
        guard let comparison = LogComparison(contents, file: path, log: path + "-wal") else { return false }
        if main.size == contents.size * Int64(contents.pageSize), comparison.holds(contents.frames.count) {
            return true
        }
        guard let index = Self.bytes(of: path + "-shm", LogState.length).flatMap(LogState.init(index:)),
            index.salts == salts, index.begun > 0
        else { return false }
        if index.copied > 0 { return comparison.holds(Int(index.copied), orUpTo: Int(index.begun)) }
        return comparison.holdsBeginning(of: Int(index.begun))
    }

    /// The beginning of a file; `nil` where it is shorter.
    private static func bytes(of path: String, _ count: Int) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(file, &bytes, count, 0) == count ? bytes : nil
    }
}

/// Compares the pages of a database's file with those of its log.
final class LogComparison {
    private let contents: LogContents
    private let file: Int32
    private let log: Int32

    /// - Returns: `nil` where one of them cannot be read.
    init?(_ contents: LogContents, file path: String, log logPath: String) {
        self.contents = contents
        file = open(path, O_RDONLY | O_CLOEXEC)
        log = open(logPath, O_RDONLY | O_CLOEXEC)
        if file < 0 || log < 0 { return nil }
    }

    deinit {
        if file >= 0 { close(file) }
        if log >= 0 { close(log) }
    }

    /// Whether the file has every page as the first `count` frames leave it.
    ///
    /// - Parameter greatest: where a later copying was cut off, how many frames it would have copied: pages may be as these
    ///   leave them, too.
    func holds(_ count: Int, orUpTo greatest: Int = 0) -> Bool {
        let pages = contents.lastFrames(count)
        let later = contents.lastFrames(max(count, greatest))
        return pages.allSatisfy { page, frame in
            hasPage(page, ofFrame: frame) || later[page].map { $0 != frame && hasPage(page, ofFrame: $0) } == true
        }
    }

    /// Whether the file has the lowest page of these frames as one of them has it: pages are copied in their order.
    func holdsBeginning(of count: Int) -> Bool {
        let frames = contents.frames.prefix(count)
        guard let lowest = frames.min() else { return false }
        return frames.indices.contains { frames[$0] == lowest && hasPage(lowest, ofFrame: $0) }
    }

    private func hasPage(_ page: UInt32, ofFrame frame: Int) -> Bool {
        guard let own = read(file, Int64(page - 1) * Int64(contents.pageSize)) else { return false }
        return own == read(log, contents.place(ofFrame: frame))
    }

    private func read(_ file: Int32, _ place: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: contents.pageSize)
        return pread(file, &bytes, bytes.count, off_t(place)) == bytes.count ? bytes : nil
    }
}
