import Foundation
import Glibc

enum FileWriter {
    /// Puts a new file in the place of an existing one, whole or not at all, with its permissions and owner.
    ///
    /// - Throws: ``CommandError`` that names the file.
    static func replace(_ path: String, by contents: [UInt8]) throws {
        var replaced = stat()
        // A rename would replace what may not be written.
        guard stat(path, &replaced) == 0, access(path, W_OK) == 0 else { throw failure(path) }
        let temporary = try written(contents, for: path, mode: replaced)
        guard rename(temporary, path) == 0 else { throw failure(path, removing: temporary) }
    }

    /// Writes a file that must not exist yet, whole or not at all.
    ///
    /// - Returns: false if something has that name already.
    /// - Throws: ``CommandError`` that names the file.
    static func create(_ path: String, _ contents: [UInt8]) throws -> Bool {
        let temporary = try written(contents, for: path, mode: nil)
        // A link, unlike a rename, replaces nothing.
        if link(temporary, path) == 0 {
            unlink(temporary)
            return true
        }
        guard errno == EEXIST else { throw failure(path, removing: temporary) }
        unlink(temporary)
        return false
    }

    /// Writes `contents` to a new file beside `path`, under a name that is the same in each run: the next run replaces what a killed
    /// one left.
    ///
    /// - Parameter mode: the file whose permissions and owner it gets; `nil` for those of a new file.
    /// - Returns: its path.
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
            // Only the superuser may give a file away; for others it is theirs already.
            if mode.st_uid != geteuid() || mode.st_gid != getegid() { _ = fchown(descriptor, mode.st_uid, mode.st_gid) }
            guard fchmod(descriptor, mode.st_mode & 0o7777) == 0 else { throw failure(path, removing: temporary) }
        }
        guard fsync(descriptor) == 0 else { throw failure(path, removing: temporary) }
        return temporary
    }

    /// Writes all bytes to an open file, pipe or terminal, also where a signal interrupts.
    ///
    /// - Returns: 0, or the error's number.
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
