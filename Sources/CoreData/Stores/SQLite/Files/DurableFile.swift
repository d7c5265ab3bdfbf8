import Foundation

import Glibc

/// File operations that are durable when they return.
enum DurableFile {
    /// Creates and syncs a file, which must not exist.
    static func create(_ path: String, _ data: Data, _ permissions: mode_t) throws {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { throw failure(errno, path) }
        defer { close(descriptor) }
        try append(data, to: descriptor, path)
        guard fsync(descriptor) == 0 else { throw failure(errno, path) }
    }

    static func append(_ data: Data, to descriptor: Int32, _ path: String) throws {
        let number = FileWriting.write(data, to: descriptor)
        guard number == 0 else { throw failure(number, path) }
    }

    /// Syncs the commits that SQLite wrote to the store without syncing.
    ///
    /// Opening and closing the log here drops no lock, because SQLite holds none on it.
    ///
    /// - Returns: true if the commits are durable.
    static func syncCommits(toStoreAt path: String) -> Bool {
        let log = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        if log >= 0 {
            defer { close(log) }
            return fsync(log) == 0
        }
        guard errno == ENOENT else { return false }
        // Without a log SQLite has synced the main file. The commit is the removal of the journal's name.
        return (try? sync(folder: URL(fileURLWithPath: path).deletingLastPathComponent())) != nil
    }

    /// Syncs the names of new files in a folder.
    static func sync(folder: URL) throws {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno, folder.path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(errno, folder.path) }
    }

    /// Returns 640 for a full disk, 513 for missing permission, 512 for anything else.
    static func failure(_ code: Int32, _ path: String) -> NSError {
        let cocoa =
            code == ENOSPC || code == EDQUOT ? 640 : code == EACCES || code == EPERM || code == EROFS ? 513 : 512
        return CoreDataError.make(
            cocoa, "Cannot write the file \(path): \(String(cString: strerror(code))).",
            underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(code)), userInfo: [NSFilePathErrorKey: path])
    }
}
