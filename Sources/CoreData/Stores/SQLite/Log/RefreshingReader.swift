import Foundation

import Glibc

/// Watches a file that is read as immutable, because no process has it open. Once a process opens it, it must be opened
/// again. The data that was read stays intact until that process moves changes into the main file.
struct RefreshingReader {
    /// The number of times that the file was opened.
    private(set) var openings: Int64 = 0
    private var path = ""
    private var facts: [Int] = []

    /// Called before the file is opened, so that later changes make it reopen.
    mutating func willOpen(_ file: StoreFile) {
        openings += 1
        path = file.path
        facts = Self.facts(path)
    }

    /// True if the main file or its log changed. Takes two system calls.
    var mustReopen: Bool { Self.facts(path) != facts }

    private static func facts(_ path: String) -> [Int] {
        var main = stat()
        var log = stat()
        guard stat(path, &main) == 0 else { return [] }
        let logSize = stat(path + "-wal", &log) == 0 ? log.st_size : 0
        return [main.st_size, main.st_mtim.tv_sec, main.st_mtim.tv_nsec, Int(main.st_ino), logSize].map { Int($0) }
    }
}
