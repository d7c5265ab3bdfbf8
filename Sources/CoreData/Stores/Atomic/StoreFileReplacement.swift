import Foundation

import Glibc

/// Replaces a store's file atomically.
///
/// The new file is written next to the old one, synced and renamed. The writer locks it, so that a second process sees
/// the changes of the first. A file that a killed process left is overwritten.
struct StoreFileReplacement {
    let path: String

    /// The identity of the file at a path. Each save changes it.
    struct Stamp: Equatable {
        private let device: UInt64
        private let number: UInt64
        private let size: Int64
        private let seconds: Int
        private let nanoseconds: Int

        /// `nil` if there is no plain file at the path.
        init?(_ path: String) {
            var facts = stat()
            guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
            (device, number, size) = (UInt64(facts.st_dev), UInt64(facts.st_ino), Int64(facts.st_size))
            (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
        }
    }

    private var newPath: String {
        let url = URL(fileURLWithPath: path)
        return url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).new").path
    }

    /// - Parameters:
    ///   - expected: the identity of the file that was read; another file is not replaced. `nil` replaces any file.
    ///   - permissions: permissions of a file that did not exist; `nil` for those of the umask.
    /// - Throws: 134030 if another process saved since the file was read; 640, 513 or 512 if the file cannot be
    ///   written. The old file is then unchanged.
    func write(_ data: Data, replacing expected: Stamp?, permissions: mode_t? = nil) throws -> Stamp? {
        guard try PlainFile.check(path, for: "write") || expected == nil || Stamp(path) == nil else { return nil }
        let permissions = PlainFile.permissions(path) ?? permissions
        let descriptor = try openLocked(permissions)
        defer { close(descriptor) }
        do {
            if let expected, let present = Stamp(path), present != expected {
                throw CoreDataError.make(
                    134030,
                    "Cannot save to the store \(path): another process wrote it after it was read. Remove it from "
                        + "its coordinator, then add it again.", userInfo: [NSFilePathErrorKey: path])
            }
            try fill(descriptor, data)
            guard rename(newPath, path) == 0 else { throw failure("replaced") }
        } catch {
            PlainFile.remove(newPath)
            throw error
        }
        syncFolder()
        return Stamp(path)
    }

    /// Removes the new file that a killed process left.
    func removeLeft() {
        guard PlainFile.kind(newPath) == .plain else { return }
        let descriptor = open(newPath, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var (mine, there) = (stat(), stat())
        // Remove it only if no process has it locked and the path still refers to the opened file.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &mine) == 0, lstat(newPath, &there) == 0,
            there.st_ino == mine.st_ino, there.st_dev == mine.st_dev
        else { return }
        PlainFile.remove(newPath)
    }

    private func openLocked(_ permissions: mode_t?) throws -> Int32 {
        while true {
            let descriptor = open(newPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, permissions ?? 0o666)
            guard descriptor >= 0 else { throw failure("written") }
            var (mine, there) = (stat(), stat())
            guard fstat(descriptor, &mine) == 0, mine.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                throw CoreDataError.make(
                    512, "Cannot save to the store \(path): \(newPath) already exists. Move it away.",
                    userInfo: [NSFilePathErrorKey: path])
            }
            while flock(descriptor, LOCK_EX) != 0 {
                guard errno == EINTR else {
                    close(descriptor)
                    throw failure("locked")
                }
            }
            // The previous owner of the lock may have renamed the file.
            if lstat(newPath, &there) == 0, there.st_ino == mine.st_ino, there.st_dev == mine.st_dev {
                if let permissions { fchmod(descriptor, permissions) }
                return descriptor
            }
            close(descriptor)
        }
    }

    private func fill(_ descriptor: Int32, _ data: Data) throws {
        guard ftruncate(descriptor, 0) == 0 else { throw failure("written") }
        let number = FileWriting.write(data, to: descriptor)
        guard number == 0 else { throw failure("written", number) }
        guard fsync(descriptor) == 0 else { throw failure("flushed to disk") }
    }

    private func syncFolder() {
        let folder = open(
            URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func failure(_ what: String, _ number: Int32 = errno) -> NSError {
        let code =
            switch number {
            case ENOSPC, EDQUOT: 640
            case EACCES, EPERM: 513
            case EROFS: 642
            case ENOENT, ENOTDIR: 4
            default: 512
            }
        return CoreDataError.make(
            code, "The store \(path) cannot be \(what): \(String(cString: strerror(number))).",
            underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(number)), userInfo: [NSFilePathErrorKey: path])
    }
}
