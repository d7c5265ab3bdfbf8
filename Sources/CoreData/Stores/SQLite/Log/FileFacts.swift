#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Which file stands at a path, and when it was changed, in nanoseconds. All 0 where none does.
struct FileFacts: Equatable {
    var device = 0
    var inode = 0
    var size = 0
    /// When its content was written last, as programs may set it.
    var modified = 0
    /// When anything of it was changed last, as the system alone sets it.
    var changed = 0

    init() {}

    init(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return }
        device = Int(truncatingIfNeeded: facts.st_dev)
        inode = Int(truncatingIfNeeded: facts.st_ino)
        size = Int(facts.st_size)
        modified = Self.nanoseconds(facts.st_mtim)
        changed = Self.nanoseconds(facts.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int { time.tv_sec &* 1_000_000_000 &+ time.tv_nsec }

    var exists: Bool { inode != 0 }

    /// The same without ``changed``: SQLite sets the owner of a log that it opens, where root does.
    var content: FileFacts {
        var facts = self
        facts.changed = 0
        return facts
    }

    func isSameFile(as other: FileFacts) -> Bool { device == other.device && inode == other.inode }
}
