import Foundation

import Glibc

package enum FileWriting {
    /// Writes all of `data` to an open file, pipe or terminal, and continues after signals.
    ///
    /// - Returns: 0, or `errno`; then the number of bytes written is unknown.
    // SAFETY: the system reads at most the remaining bytes, which the data holds.
    package static func write(_ data: some ContiguousBytes, to descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 ? EIO : errno }
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }

    /// The file that a path refers to. Links in its last component are followed, even if the target does not exist.
    package static func target(of path: String) -> String {
        var path = path
        // The system's own limit.
        for _ in 0..<40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            path = next.hasPrefix("/") ? next : folder.appendingPathComponent(next).path
        }
        return path
    }

    /// True if both paths refer to the same file.
    package static func areSame(_ left: String, _ right: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(left, &first) == 0, stat(right, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Creates a file and holds its lock until it is closed. The lock shows that the writing process is alive.
    ///
    /// Between the two steps another process may remove the file as abandoned. The file is created again until the
    /// locked one still has its name.
    /// - Parameters:
    ///   - flags: flags for opening, in addition to creating the file, not following links and closing it in child
    ///     processes.
    ///   - mode: the permissions of a new file.
    /// - Returns: -1 if the file cannot be created; the reason is in `errno`.
    package static func openLocked(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 {
        while true {
            let descriptor = open(path, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode)
            guard descriptor >= 0 else { return -1 }
            // A process that removes abandoned files holds the lock only briefly. On a file system without locks
            // nothing is removed.
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            var status = stat()
            if fstat(descriptor, &status) != 0 || status.st_nlink > 0 { return descriptor }
            close(descriptor)
        }
    }
}

/// The system's function, whose name is shadowed inside the enumeration.
// SAFETY: the caller holds `count` bytes during the call.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
