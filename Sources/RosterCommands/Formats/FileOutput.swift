import CoreData
import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Text written to a file that appears whole or not at all: it is written beside its place under another name. What is no
/// plain file, such as a pipe or a device, is written directly.
final class FileOutput: TextOutput {
    private let path: String
    /// `nil` when the file is written directly.
    private let temporaryPath: String?
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isFinished = false

    init(path: String) throws {
        self.path = path
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            temporaryPath = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            Self.removeLeftovers(of: path)
            let temporary = "\(path).\(getpid()).part"
            temporaryPath = temporary
            descriptor = FileWriting.openLocked(temporary, O_WRONLY | O_TRUNC, mode: 0o666)
        }
        if descriptor < 0 { throw Self.failure(path) }
    }

    deinit {
        if isFinished { return }
        close(descriptor)
        if let temporaryPath { unlink(temporaryPath) }
    }

    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= 1 << 16 { try flush() }
    }

    func flush() throws {
        let number = FileWriting.write(buffer, to: descriptor)
        guard number == 0 else { throw Self.failure(path, number) }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Puts the file in its place. Nothing may be written afterwards.
    func finish() throws {
        try flush()
        if let temporaryPath {
            guard fsync(descriptor) == 0, rename(temporaryPath, path) == 0 else { throw Self.failure(path) }
        }
        isFinished = true
        close(descriptor)
    }

    /// Removes what exports to the same file left behind that were killed.
    private static func removeLeftovers(of path: String) {
        let file = URL(fileURLWithPath: path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)) ?? []
        for name in names where name.hasPrefix(file.lastPathComponent + ".") && name.hasSuffix(".part") {
            let middle = name.dropFirst(file.lastPathComponent.count + 1).dropLast(5)
            guard !middle.isEmpty, middle.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            let leftover = file.deletingLastPathComponent().appendingPathComponent(name).path
            let descriptor = open(leftover, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            // The process that writes it holds the lock.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(leftover) }
            close(descriptor)
        }
    }

    private static func failure(_ path: String, _ number: Int32 = errno) -> CommandError {
        .failure("cannot write \(path): \(String(cString: strerror(number)))")
    }
}
