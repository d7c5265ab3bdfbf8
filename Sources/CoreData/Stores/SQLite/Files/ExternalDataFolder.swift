import Foundation

import Glibc

/// One of the folders of a store's external data. Files in it are read, written and removed through here alone: a link in the
/// place of the folder, or of the one that it is in, could lead to any folder of the user's, and is not followed. The store's
/// own folder may be reached through links.
struct ExternalDataFolder: Sendable {
    let url: URL
    /// The folder that it is in, which belongs to the store too.
    private let support: URL

    init(_ name: String, in support: URL) {
        self.support = support
        url = support.appendingPathComponent(name, isDirectory: true)
    }

    /// Whether it and the folder that it is in are there, and are folders.
    var isThere: Bool { PlainFile.kind(support.path) == .folder && PlainFile.kind(url.path) == .folder }

    /// The place of a file in it, whether there is one or not. To be used after ``make(like:)``, or for messages.
    func place(_ name: String) -> String { url.appendingPathComponent(name, isDirectory: false).path }

    /// The path of the plain file of that name; `nil` if there is none.
    func file(_ name: String) -> String? {
        guard isThere else { return nil }
        let path = place(name)
        return PlainFile.kind(path) == .plain ? path : nil
    }

    /// Larger files are no values: a file without contents may claim any size.
    static let greatestSize: off_t = 1 << 32

    /// The bytes of the plain file of that name; `nil` if there is none, it is too large, or it cannot be read.
    ///
    /// A file is mapped, not read: its bytes are loaded when they are looked at. Files are never changed, and a mapped one
    /// keeps its bytes when it is removed.
    func contents(_ name: String) -> Data? {
        guard isThere else { return nil }
        // A pipe in its place must not keep the reader waiting.
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
        // There is a limit to how much a process may have mapped.
        return try? FileHandle(fileDescriptor: reading, closeOnDealloc: false).readToEnd()
    }

    /// The names of the plain files in it that are named as the framework names them: by a UUID.
    ///
    /// - Parameter ending: follows the UUID.
    func names(ending: String = "") -> [String] {
        guard isThere else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.filter { name in
            name.hasSuffix(ending) && UUID(uuidString: String(name.dropLast(ending.count))) != nil
                && PlainFile.kind(place(name)) == .plain
        }
    }

    /// Removes a plain file, and nothing else.
    func remove(_ name: String) {
        if let path = file(name) { unlink(path) }
    }

    /// Keeps all files that are in it until the result goes: whoever copies a store copies the rows first, and then the files that
    /// they refer to.
    ///
    /// - Returns: `nil` where the folder is not there.
    func keepFiles() -> FolderLock? { isThere ? FolderLock(url.path, LOCK_SH) : nil }

    /// - Returns: `nil` while somebody keeps the files, or where the folder is not there.
    func lockForRemoval() -> FolderLock? { isThere ? FolderLock(url.path, LOCK_EX | LOCK_NB) : nil }

    /// Removes it and the folder that it is in, as far as nothing is in them.
    func removeIfEmpty() {
        if isThere { rmdir(url.path) }
        rmdir(support.path)
    }

    /// Makes it and the folder that it is in where they are not there.
    ///
    /// - Parameter other: the folder whose permissions it gets where it is made.
    /// - Returns: whether it was made.
    /// - Throws: 512 where a link or a file is in the place of one of them, 513 for want of permission, 640 for a full disk.
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
            // Another process may have been quicker.
            if number == EEXIST, PlainFile.kind(folder.path) == .folder { return false }
            throw DurableFile.failure(number, folder.path)
        }
        if let permissions { chmod(folder.path, permissions) }
        return true
    }

    private static func isInTheWay(_ folder: URL) -> NSError {
        let what = PlainFile.kind(folder.path) == .link ? "a link, which is not followed" : "no folder"
        return CoreDataError.make(
            512,
            "Cannot write external values to the folder \(folder.path): it is \(what). Put the folder itself there, or move what is there away.",
            userInfo: [NSFilePathErrorKey: folder.path])
    }
}

/// A lock on a folder, which ends with the object or with the process.
final class FolderLock {
    private let descriptor: Int32

    fileprivate init?(_ path: String, _ operation: Int32) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, operation) != 0 {
            // `deinit` runs all the same, and closes it. Closed twice, it could be another thread's by then.
            guard errno == EINTR else { return nil }
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
