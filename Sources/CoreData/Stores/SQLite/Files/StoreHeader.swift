import Foundation
import SQLiteAccess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// SQLite removes or plays back what it takes for the log or the journal of a database, before it looks whether the file
// is one. So this is looked at here where such a file stands beside it. Opening and closing a database's file drops the locks
// that SQLite holds on it for this process: where the process has it open, it is read through what is open.

/// The beginning of a store's file.
enum StoreHeader {
    private static let mark = Array("SQLite format 3\0".utf8)

    /// - Throws: an ``SQLiteError`` for a file that is neither empty nor an SQLite database and has files of such names beside
    ///   it.
    static func check(_ path: String) throws {
        guard ["-wal", "-journal"].contains(where: { access(path + $0, F_OK) == 0 }), let start = start(of: path),
            !start.isEmpty, start != mark
        else { return }
        throw SQLiteError(extendedCode: 26, message: "file is not a database")
    }

    /// `nil` where it cannot be read.
    private static func start(of path: String) -> [UInt8]? {
        var own = stat()
        guard stat(path, &own) == 0 else { return nil }
        let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        for descriptor in open ?? [] {
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_dev == own.st_dev, facts.st_ino == own.st_ino else {
                continue
            }
            return read(descriptor)
        }
        guard open != nil else { return nil }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor)
    }

    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: mark.count)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }
}
