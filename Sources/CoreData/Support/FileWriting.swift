import Foundation

import Glibc

package enum FileWriting {
    /// Writes all of `data` to an open file, pipe or terminal, also where a signal interrupts.
    ///
    /// - Returns: 0, or what `errno` said; how much was written before is not known then.
    // SAFETY: the system reads at most what is left of the bytes, which the data hold.
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

    /// The file that a path leads to: links in its last component are followed, also to where nothing is yet.
    package static func target(of path: String) -> String {
        var path = path
        // As many as the system follows.
        for _ in 0..<40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            path = next.hasPrefix("/") ? next : folder.appendingPathComponent(next).path
        }
        return path
    }

    /// Whether two paths lead to one file.
    package static func areSame(_ left: String, _ right: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(left, &first) == 0, stat(right, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Makes a file whose lock is held until it is closed, which says that the process lives that writes it.
    ///
    /// Between the two another process may take the file for one that was left, and remove it: it is made again until the one that is
    /// locked has a name.
    /// - Parameters:
    ///   - flags: how it is opened, beside that it is made, that links are not followed, and that no child has it.
    ///   - mode: the permissions of a new file.
    /// - Returns: -1 when it cannot be made; `errno` says why.
    package static func openLocked(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 {
        while true {
            let descriptor = open(path, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode)
            guard descriptor >= 0 else { return -1 }
            // What removes leftovers holds the lock for a moment only. A file system without locks has no such removal.
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            var status = stat()
            if fstat(descriptor, &status) != 0 || status.st_nlink > 0 { return descriptor }
            close(descriptor)
        }
    }
}

/// The system's function: in the enumeration the name is another's.
// SAFETY: the caller holds `count` bytes during the call.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
