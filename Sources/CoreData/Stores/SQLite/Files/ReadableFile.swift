import Glibc

/// A plain file opened for reading. Opening never blocks, whatever is at the path.
final class ReadableFile {
    let descriptor: Int32
    private(set) var size: Int

    /// - Returns: `nil` if there is no plain file at the path, or it cannot be read.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var facts = stat()
        guard descriptor >= 0, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            size = 0
            return nil
        }
        size = Int(facts.st_size)
    }

    /// Reads the size again, for a file that others write.
    func noteSize() {
        var facts = stat()
        size = fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads bytes of the file; returns none if it has fewer.
    // SAFETY: `pread` fills at most `count` bytes, for which there is room, and says how many.
    func read(_ count: Int, at offset: Int) -> [UInt8] {
        guard count > 0, offset >= 0, size >= count, offset <= size - count else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
        return bytes.count == count ? bytes : []
    }
}

extension [UInt8] {
    /// Reads four big-endian bytes, which must exist.
    func bigEndianWord(at place: Int) -> UInt32 {
        self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
