import Foundation

import Glibc

/// Replaces files and folders atomically. Until the new ones are complete they have a hidden name in the same folder,
/// and a lock that shows that the process lives: leftovers of a killed process are removed by the next one that writes
/// the same file.
package enum FileReplacement {
    /// Writes a folder of files. A folder at `url` is replaced if `isReplaceable` returns true for the names in it.
    ///
    /// - Throws: ``ModelFileError``.
    static func folder(
        at url: URL, isReplaceable: ([String]) -> Bool, files: () -> [(name: String, data: Data)]
    ) throws {
        let manager = FileManager.default
        removeLeft(of: url)
        var isFolder: ObjCBool = false
        let stands = manager.fileExists(atPath: url.path, isDirectory: &isFolder)
        if stands {
            let names = isFolder.boolValue ? try? manager.contentsOfDirectory(atPath: url.path) : nil
            guard let names, isReplaceable(names) else {
                throw ModelFileError(
                    .unwritable, file: url.path, "another kind of file exists at this path; it was not replaced")
            }
        }
        let fresh = sibling(of: url, Mark.new), old = sibling(of: url, Mark.old)
        do {
            try manager.createDirectory(at: fresh, withIntermediateDirectories: true)
            let locks = [fresh, url].map { Lock($0) }
            defer { withExtendedLifetime(locks) {} }
            for file in files() {
                let place = fresh.appendingPathComponent(file.name)
                try manager.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try file.data.write(to: place)
            }
            if stands { try manager.moveItem(at: url, to: old) }
            try manager.moveItem(at: fresh, to: url)
            if stands { try manager.removeItem(at: old) }
        } catch {
            if !manager.fileExists(atPath: url.path) { try? manager.moveItem(at: old, to: url) }
            try? manager.removeItem(at: fresh)
            throw unwritable(url, error)
        }
    }

    /// Writes one file. The permissions of a replaced file are kept.
    ///
    /// - Throws: ``ModelFileError``.
    package static func file(at url: URL, _ data: Data) throws { try files([(url, data)]) }

    /// Writes files. If one cannot be written, none is changed.
    ///
    /// - Throws: ``ModelFileError``.
    package static func files(_ files: [(url: URL, data: Data)]) throws {
        var parts: [(part: URL, url: URL)] = []
        var locks: [Lock?] = []
        defer { withExtendedLifetime(locks) {} }
        do {
            for (url, data) in files {
                removeLeft(of: url)
                var status = stat()
                let stands = stat(url.path, &status) == 0
                if stands, status.st_mode & S_IFMT == S_IFDIR { throw unwritable(url, EISDIR) }
                let part = sibling(of: url, Mark.new)
                let descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
                guard descriptor >= 0 else { throw unwritable(url, errno) }
                parts.append((part, url))
                locks.append(Lock(descriptor))
                try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: data)
                if stands, fchmod(descriptor, status.st_mode & 0o7777) != 0 { throw unwritable(url, errno) }
            }
            for (part, url) in parts where rename(part.path, url.path) != 0 { throw unwritable(url, errno) }
        } catch {
            for (part, _) in parts { unlink(part.path) }
            throw error is ModelFileError ? error : unwritable(parts.last?.url ?? files[0].url, error)
        }
    }

    // MARK: Leftovers of killed processes

    private enum Mark {
        static let new = "new"
        static let old = "old"
    }

    /// A lock on a file or folder, which ends with the object or the process.
    private final class Lock {
        private let descriptor: Int32

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
            flock(descriptor, LOCK_EX | LOCK_NB)
        }

        convenience init?(_ url: URL) {
            let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return nil }
            self.init(descriptor)
        }

        deinit { close(descriptor) }
    }

    /// Removes unused new items and replaced old ones. An old item is restored if nothing replaced it.
    private static func removeLeft(of url: URL) {
        let folder = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for mark in [Mark.old, Mark.new] {
            let start = ".\(url.lastPathComponent).\(mark)."
            for name in names {
                guard name.hasPrefix(start), UUID(uuidString: String(name.dropFirst(start.count))) != nil else {
                    continue
                }
                let left = folder.appendingPathComponent(name)
                let descriptor = open(left.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                guard descriptor >= 0 else { continue }
                defer { close(descriptor) }
                guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
                if mark == Mark.old, access(url.path, F_OK) != 0 {
                    rename(left.path, url.path)
                } else {
                    try? FileManager.default.removeItem(at: left)
                }
            }
        }
    }

    /// An unused name in the folder of `url`.
    private static func sibling(of url: URL, _ mark: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(mark).\(UUID().uuidString)")
    }

    private static func unwritable(_ url: URL, _ error: any Error) -> ModelFileError {
        let reason = (error as NSError).localizedDescription
        return ModelFileError(.unwritable, file: url.path, "it cannot be written: \(reason)")
    }

    private static func unwritable(_ url: URL, _ number: Int32) -> ModelFileError {
        ModelFileError(.unwritable, file: url.path, "it cannot be written: \(String(cString: strerror(number)))")
    }
}
