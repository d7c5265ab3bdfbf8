import Foundation

import Glibc

/// Copies the files of one store's external values to another store. Only plain files with the name of a value are
/// copied.
final class ExternalDataCopy {
    private let source: ExternalDataFolder
    private let destination: ExternalData
    private var made: [String] = []

    /// The suffix of a file's name until it is complete.
    static let partEnding = ".part"

    init(ofStoreAt source: String, toStoreAt destination: String) {
        self.source = ExternalData(storePath: source).values
        self.destination = ExternalData(storePath: destination)
    }

    /// - Parameters:
    ///   - referred: the names of the files to copy, which rows refer to; `nil` for all.
    ///   - replaces: true if a file of the same name is replaced. If false, it must have the same contents.
    /// - Throws: 516 if a file differs, 512 if a link or other object is in the way, 513, 640. Call ``takeBack()``
    ///   then.
    func run(only referred: Set<String>? = nil, replaces: Bool) throws {
        let (from, to) = (source, destination.values)
        let names = referred.map(Array.init) ?? from.names()
        // Stores whose names differ only in their extension share a folder.
        guard !names.isEmpty, !FileWriting.areSame(from.url.path, to.url.path) else { return }
        try to.make(like: from)
        for name in names {
            guard let file = from.file(name) else { continue }
            try copy(file, to: name, replaces)
        }
        try destination.syncFolder()
    }

    /// Removes the copied files, except those that replaced others.
    func takeBack() {
        for name in made { destination.values.remove(name) }
        destination.values.removeIfEmpty()
        made = []
    }

    private func copy(_ file: String, to name: String, _ replaces: Bool) throws {
        // Opening must not block if a pipe has replaced the file.
        let reading = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard reading >= 0 else { throw DurableFile.failure(errno, file) }
        defer { close(reading) }
        var facts = stat()
        guard fstat(reading, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        let place = destination.values.place(name)
        let kind = PlainFile.kind(place)
        if kind != .nothing {
            if kind == .plain, FileManager.default.contentsEqual(atPath: file, andPath: place) { return }
            guard kind == .plain, replaces else {
                throw CoreDataError.make(
                    516, "Cannot copy the external value \(file): another file exists at \(place). Move it away.",
                    userInfo: [NSFilePathErrorKey: place])
            }
        }
        let partial = place + Self.partEnding
        PlainFile.remove(partial)
        do {
            try write(from: reading, facts.st_mode & 0o777, to: partial)
            guard rename(partial, place) == 0 else { throw DurableFile.failure(errno, place) }
        } catch {
            PlainFile.remove(partial)
            throw error
        }
        if kind == .nothing { made.append(name) }
    }

    /// Copies and syncs the file, which must be durable before the store whose rows refer to it.
    private func write(from reading: Int32, _ permissions: mode_t, to path: String) throws {
        let writing = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, permissions)
        guard writing >= 0 else { throw DurableFile.failure(errno, path) }
        defer { close(writing) }
        fchmod(writing, permissions)
        let input = FileHandle(fileDescriptor: reading, closeOnDealloc: false)
        while let bytes = try input.read(upToCount: 1 << 20), !bytes.isEmpty {
            try DurableFile.append(bytes, to: writing, path)
        }
        guard fsync(writing) == 0 else { throw DurableFile.failure(errno, path) }
    }
}
