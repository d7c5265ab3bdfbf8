import Foundation

import Glibc

/// A folder of a store's external data. Its files are read, written and removed only here, because a link in place of
/// the folder or its parent could lead to any folder of the user, and is not followed. The store's own folder may be
/// reached through links.
struct ExternalDataFolder: Sendable {
    let url: URL
    /// The parent of the folder. It belongs to the store, too, so it is not followed if it is a link.
    private let support: URL

    init(_ name: String, in support: URL) {
        self.support = support
        url = support.appendingPathComponent(name, isDirectory: true)
    }

    /// True if the folder and its parent exist and are folders.
    var isThere: Bool { PlainFile.kind(support.path) == .folder && PlainFile.kind(url.path) == .folder }

    /// Returns the path of a file, whether it exists or not. For use after ``make(like:)``, or in messages.
    func place(_ name: String) -> String { url.appendingPathComponent(name, isDirectory: false).path }

    /// Returns the path of the plain file with that name; `nil` if there is none.
    func file(_ name: String) -> String? {
        guard isThere else { return nil }
        let path = place(name)
        return PlainFile.kind(path) == .plain ? path : nil
    }

    /// Maximum size of a file that is read as a value. A damaged store may contain a sparse file of any size.
    static let greatestSize: off_t = 1 << 32

    /// Returns the bytes of the plain file with that name; `nil` if there is none, or it is too large or unreadable.
    ///
    /// The file is mapped into memory, so its bytes are loaded on access. Files never change, and a mapping stays valid
    /// after the file is removed.
    func contents(_ name: String) -> Data? {
        guard isThere else { return nil }
        // Opening must not block if a pipe has replaced the file.
        let reading = open(place(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard reading >= 0 else { return nil }
        defer { close(reading) }
        var facts = stat()
        guard fstat(reading, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= Self.greatestSize else {
            return nil
        }
        if facts.st_size == 0 { return Data() }
        let size = Int(facts.st_size)
        if let mapped = mmap(nil, size, PROT_READ, MAP_PRIVATE, reading, 0), mapped != MAP_FAILED {
            return Data(bytesNoCopy: mapped, count: size, deallocator: .unmap)
        }
        // The number of mappings of a process is limited.
        return try? FileHandle(fileDescriptor: reading, closeOnDealloc: false).readToEnd()
    }

    /// Returns the names of plain files that are named as the framework names them, by a UUID.
    ///
    /// - Parameter ending: the suffix after the UUID.
    func names(ending: String = "") -> [String] {
        guard isThere else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.filter { name in
            name.hasSuffix(ending) && UUID(uuidString: String(name.dropLast(ending.count))) != nil
                && PlainFile.kind(place(name)) == .plain
        }
    }

    /// Removes the plain file with that name, if there is one.
    func remove(_ name: String) {
        if let path = file(name) { unlink(path) }
    }

    /// Prevents the removal of files until the result is released. A copy of a store copies the rows first and then the
    /// files that they refer to.
    ///
    /// - Returns: `nil` if the folder does not exist.
    func keepFiles() -> FolderLock? { isThere ? FolderLock(url.path, LOCK_SH) : nil }

    /// Locks the folder, so that files may be removed from it.
    ///
    /// - Returns: `nil` during ``keepFiles()``, or if the folder does not exist.
    func lockForRemoval() -> FolderLock? { isThere ? FolderLock(url.path, LOCK_EX | LOCK_NB) : nil }

    /// Removes the folder and its parent if they are empty.
    func removeIfEmpty() {
        if isThere { rmdir(url.path) }
        rmdir(support.path)
    }

    /// Creates the folder and its parent if they do not exist.
    ///
    /// - Parameter other: a folder whose permissions a new folder gets.
    /// - Returns: true if it was created.
    /// - Throws: 512 if a link or a file is in the way, 513 for missing permission, 640 for a full disk.
    @discardableResult
    func make(like other: ExternalDataFolder? = nil) throws -> Bool {
        _ = try Self.make(support, like: other?.support)
        return try Self.make(url, like: other?.url)
    }

    private static func make(_ folder: URL, like other: URL?) throws -> Bool {
        switch PlainFile.kind(folder.path) {
        case .folder: return false
        case .nothing: break
        case .link, .plain, .special: throw isInTheWay(folder)
        }
        let permissions = other.flatMap { PlainFile.permissions($0.path) }
        guard mkdir(folder.path, permissions ?? 0o777) == 0 else {
            let number = errno
            // Another process may have created it in the meantime.
            if number == EEXIST, PlainFile.kind(folder.path) == .folder { return false }
            throw DurableFile.failure(number, folder.path)
        }
        if let permissions { chmod(folder.path, permissions) }
        return true
    }

    private static func isInTheWay(_ folder: URL) -> NSError {
        let what = PlainFile.kind(folder.path) == .link ? "a link, which is not followed" : "not a folder"
        return CoreDataError.make(
            512,
            "Cannot write external values to the folder \(folder.path): it is \(what). Put the folder itself at this path.",
            userInfo: [NSFilePathErrorKey: folder.path])
    }
}

/// A lock on a folder, held until the object is released or the process ends.
final class FolderLock {
    private let descriptor: Int32

    fileprivate init?(_ path: String, _ operation: Int32) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, operation) != 0 {
            // `deinit` runs and closes the descriptor. Closing it here too could close another thread's file.
            guard errno == EINTR else { return nil }
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
