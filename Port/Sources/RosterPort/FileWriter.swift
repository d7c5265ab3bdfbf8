import Foundation
import Glibc

enum FileWriter {
    /// Replaces an existing file atomically, keeping its permissions and owner.
    ///
    /// - Throws: ``CommandError`` that names the file.
    static func replace(_ path: String, by contents: [UInt8]) throws {
        var replaced = stat()
        // `rename` would also replace a file that is read-only.
        guard stat(path, &replaced) == 0, access(path, W_OK) == 0 else { throw failure(path) }
        let temporary = try written(contents, for: path, mode: replaced)
        guard rename(temporary, path) == 0 else { throw failure(path, removing: temporary) }
    }

    /// Creates a file atomically.
    ///
    /// - Returns: False if the path exists already.
    /// - Throws: ``CommandError`` that names the file.
    static func create(_ path: String, _ contents: [UInt8]) throws -> Bool {
        let temporary = try written(contents, for: path, mode: nil)
        // Unlike `rename`, `link` does not replace an existing file.
        if link(temporary, path) == 0 {
            unlink(temporary)
            return true
        }
        guard errno == EEXIST else { throw failure(path, removing: temporary) }
        unlink(temporary)
        return false
    }

    /// Writes `contents` to a temporary file in the folder of `path`. Its name is the same in each run: the next run
    /// replaces the file of a killed run.
    ///
    /// - Parameter mode: Permissions and owner to set; nil for those of a new file.
    /// - Returns: Path of the temporary file.
    private static func written(_ contents: [UInt8], for path: String, mode: stat?) throws -> String {
        let temporary = path + ".roster-port.part"
        unlink(temporary)
        let descriptor = open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode == nil ? 0o666 : 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        let number = write(contents, to: descriptor)
        guard number == 0 else { throw failure(path, number, removing: temporary) }
        if let mode {
            // Only root can change the owner.
            if mode.st_uid != geteuid() || mode.st_gid != getegid() { _ = fchown(descriptor, mode.st_uid, mode.st_gid) }
            guard fchmod(descriptor, mode.st_mode & 0o7777) == 0 else { throw failure(path, removing: temporary) }
        }
        guard fsync(descriptor) == 0 else { throw failure(path, removing: temporary) }
        return temporary
    }

    /// Writes all bytes to an open file, pipe or terminal. Continues after an interruption by a signal.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            // SAFETY: the system reads at most `count` bytes, which the slice holds during the call.
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? EIO : errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    private static func failure(
        _ path: String, _ number: Int32 = errno, removing temporary: String? = nil
    ) -> CommandError {
        if let temporary { unlink(temporary) }
        return .failure("cannot write \(path): \(String(cString: strerror(number)))")
    }
}
