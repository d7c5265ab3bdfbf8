import Foundation

import Glibc

/// The names of the files that a running save creates or makes unused, one per line, in a file that is locked as long
/// as the save lives.
final class ExternalDataNote {
    private let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Creates the note of a save.
    convenience init(in place: ExternalData) throws {
        try place.notes.make()
        let path = place.notes.place(UUID().uuidString)
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw DurableFile.failure(errno, path) }
        flock(descriptor, LOCK_EX)
        self.init(path: path, descriptor: descriptor)
    }

    /// Takes over the note of a dead save; `nil` if the save lives or the note is gone.
    private convenience init?(abandonedAt path: String) {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        self.init(path: path, descriptor: descriptor)
    }

    deinit { close(descriptor) }

    func add(_ name: String) throws { try DurableFile.append(Data((name + "\n").utf8), to: descriptor, path) }

    func remove() { unlink(path) }

    /// Removes the files that dead saves left. Reads one folder, which most stores do not have. The rows must be
    /// durable first; if they cannot be synced, all files stay until the next time.
    ///
    /// - Parameter referred: returns those of the names that rows refer to.
    static func clearUp(_ place: ExternalData, _ referred: ([String]) throws -> Set<String>) throws {
        let notes = place.notes.names()
        guard !notes.isEmpty, DurableFile.syncCommits(toStoreAt: place.storePath) else { return }
        let lock = place.values.lockForRemoval()
        guard lock != nil || !place.values.isThere else { return }
        defer { withExtendedLifetime(lock) {} }
        for file in notes {
            let path = place.notes.place(file)
            guard let note = ExternalDataNote(abandonedAt: path),
                let text = try? String(contentsOfFile: path, encoding: .utf8)
            else { continue }
            let names = text.split(separator: "\n").map(String.init).filter { UUID(uuidString: $0) != nil }
            for name in try Set(names).subtracting(referred(names)) { place.values.remove(name) }
            note.remove()
        }
    }
}
