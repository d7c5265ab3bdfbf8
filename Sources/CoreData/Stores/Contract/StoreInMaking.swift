import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The place of a store that is made beside another one, to be put in that one's place once it is whole.
///
/// A mark beside it is locked for as long as the process lives. What is left by a process that was killed is removed by the next one
/// that makes a store for the same place; where no mark can be made, it stays.
package final class StoreInMaking {
    package let path: String
    private let mark: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - path: the store whose place is taken.
    ///   - purpose: the part of the file's name between the name of that store and a UUID.
    ///   - ending: the part of the file's name after the UUID.
    ///   - discard: removes the store of a killed process at a path.
    package init(for path: String, _ purpose: String, ending: String = "", discard: (String) -> Void) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let start = ".\(URL(fileURLWithPath: path).lastPathComponent).\(purpose)"
        for name in Self.left(in: folder, start, ending) {
            Self.discard(folder.appendingPathComponent(name).path, discard)
        }
        self.path = folder.appendingPathComponent(start + UUID().uuidString + ending).path
        mark = self.path + Self.markEnding
        descriptor = FileWriting.openLocked(mark, O_RDWR | O_EXCL, mode: 0o600)
    }

    /// Removes the mark, for a caller that has removed the store or put it in its place.
    package func end() { if descriptor >= 0 { PlainFile.remove(mark) } }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static let markEnding = ".making"

    /// The names of stores that were marked for one place.
    private static func left(in folder: URL, _ start: String, _ ending: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.compactMap { name in
            guard name.hasPrefix(start), name.hasSuffix(ending + markEnding) else { return nil }
            let uuid = name.dropFirst(start.count).dropLast(ending.count + markEnding.count)
            return UUID(uuidString: String(uuid)) == nil ? nil : String(name.dropLast(markEnding.count))
        }
    }

    /// Removes what a killed process left; nothing where the one that makes it lives.
    private static func discard(_ path: String, _ discard: (String) -> Void) {
        let mark = path + markEnding
        guard PlainFile.kind(mark) == .plain else { return }
        let descriptor = open(mark, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        discard(path)
        PlainFile.remove(mark)
    }
}
