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
            let temporary = "\(path).\(getpid()).part"
            temporaryPath = temporary
            descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
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

    // SAFETY: `write` reads the bytes during the call, while the array holds them.
    func flush() throws {
        var start = 0
        while start < buffer.count {
            let count = buffer[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw Self.failure(path) }
            start += count
        }
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

    private static func failure(_ path: String) -> CommandError {
        .failure("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}
