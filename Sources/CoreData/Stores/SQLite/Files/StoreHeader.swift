import Foundation
import SQLiteAccess
import Glibc

// SQLite removes or plays back a supposed log or journal before it checks if the file is a database. So this code reads
// the header itself if a log or journal exists. Opening and closing a database file drops SQLite's locks on it in this
// process, so an open file is read through its existing descriptor.

/// Reads the beginning of a store's file.
package enum StoreHeader {
    /// The first bytes of a database.
    package static let mark = Array("SQLite format 3\0".utf8)

    /// Checks the header of a file that has a log or journal.
    ///
    /// - Throws: an ``SQLiteError`` if the file has a log or journal and is neither empty nor an SQLite database.
    static func check(_ path: String) throws {
        guard ["-wal", "-journal"].contains(where: { access(path + $0, F_OK) == 0 }), let start = start(of: path),
            !start.isEmpty, start != mark, !isUnfinishedCreation(path, start)
        else { return }
        throw SQLiteError(extendedCode: 26, message: "file is not a database")
    }

    /// True if the power failed while the file was created: its first page was not written, and the journal has a
    /// previous page count of 0, so that SQLite empties the file.
    private static func isUnfinishedCreation(_ path: String, _ start: [UInt8]) -> Bool {
        guard start.allSatisfy({ $0 == 0 }), let journal = Self.start(of: path + "-journal", count: 20),
            journal.count == 20
        else { return false }
        let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        // The mark is followed by the number of records, a nonce and the number of pages.
        return journal.starts(with: mark) && journal[16...].allSatisfy { $0 == 0 }
    }

    /// True for a database, and for an empty file, which may become one.
    static func mayBeStore(_ path: String) -> Bool {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return false }
        return start(of: path).map { $0.isEmpty || $0 == mark } ?? true
    }

    /// True if the header is that of a store with a write-ahead log.
    static func usesLog(_ path: String) -> Bool { start(of: path, count: 20)?.suffix(2) == [2, 2] }

    /// The first bytes of a file; nil if it cannot be read. Does not drop the locks of an open store.
    package static func start(of path: String, count: Int = mark.count) -> [UInt8]? {
        var own = stat()
        guard stat(path, &own) == 0 else { return nil }
        let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        for descriptor in open ?? [] {
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_dev == own.st_dev, facts.st_ino == own.st_ino else {
                continue
            }
            return read(descriptor, count)
        }
        guard open != nil else { return nil }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor, count)
    }

    private static func read(_ descriptor: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }
}
