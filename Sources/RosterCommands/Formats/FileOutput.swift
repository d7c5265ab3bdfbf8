import CoreData
import Foundation
import Glibc

/// A file that is written completely or not at all: a temporary file in the same folder is written and renamed at the
/// end. A replaced file passes on its permissions and owner. A pipe or device is written directly.
package final class FileOutput: TextOutput {
    private let path: String
    /// `nil` if the file is written directly.
    private let temporaryPath: String?
    /// The file that is replaced.
    private let replaced: stat?
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isFinished = false

    /// - Throws: ``CommandError`` if the file cannot or must not be written.
    package init(_ place: OutputPlace) throws {
        path = place.path
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            (temporaryPath, replaced) = (nil, nil)
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // A rename would replace a file that must not be written.
            guard !exists || access(path, W_OK) == 0 else { throw Self.failure(path) }
            Self.removeLeftovers(of: path)
            let temporary = "\(path).\(getpid()).part"
            temporaryPath = temporary
            replaced = exists ? status : nil
            descriptor = FileWriting.openLocked(temporary, O_WRONLY | O_TRUNC, mode: exists ? 0o600 : 0o666)
        }
        if descriptor < 0 { throw Self.failure(path) }
    }

    deinit {
        if isFinished { return }
        close(descriptor)
        if let temporaryPath { unlink(temporaryPath) }
    }

    package func write(_ text: String) throws { try add(text.utf8) }

    package func write(bytes: Data) throws { try add(bytes) }

    private func add(_ bytes: some Sequence<UInt8>) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 16 { try flush() }
    }

    package func flush() throws {
        let number = FileWriting.write(buffer, to: descriptor)
        guard number == 0 else { throw Self.failure(path, number) }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Moves the file to its path. Write nothing afterwards.
    package func finish() throws {
        try flush()
        if let temporaryPath {
            if let replaced {
                // Only the superuser may change the owner; for others, the new file stays theirs.
                if replaced.st_uid != geteuid() || replaced.st_gid != getegid() {
                    _ = fchown(descriptor, replaced.st_uid, replaced.st_gid)
                }
                guard fchmod(descriptor, replaced.st_mode & 0o7777) == 0 else { throw Self.failure(path) }
            }
            guard fsync(descriptor) == 0, rename(temporaryPath, path) == 0 else { throw Self.failure(path) }
        }
        isFinished = true
        close(descriptor)
    }

    /// Removes partial files of killed exports to the same file.
    private static func removeLeftovers(of path: String) {
        let file = URL(fileURLWithPath: path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)) ?? []
        for name in names where name.hasPrefix(file.lastPathComponent + ".") && name.hasSuffix(".part") {
            let middle = name.dropFirst(file.lastPathComponent.count + 1).dropLast(5)
            guard !middle.isEmpty, middle.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            let leftover = file.deletingLastPathComponent().appendingPathComponent(name).path
            let descriptor = open(leftover, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            // A running export holds the lock.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(leftover) }
            close(descriptor)
        }
    }

    private static func failure(_ path: String, _ number: Int32 = errno) -> CommandError {
        .failure("cannot write \(path): \(String(cString: strerror(number)))")
    }
}
