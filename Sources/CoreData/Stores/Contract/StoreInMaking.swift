import Foundation

import Glibc

/// The place of a store that is made beside another one, to be put in that one's place once it is whole.
///
/// A mark beside it is locked for as long as the process lives. What is left by a process that was killed is removed by the next one
/// that makes a store for the same place; where no mark can be made, it stays.
package final class StoreInMaking {
    /// What it is made for: a part of its file's name, between the name of the store whose place it takes and a UUID.
    package enum Purpose: String, CaseIterable {
        case migration = "migration-"
        case automaticMigration = "migrationdestination_"
        case replacement = "replacement-"
        case snapshot = "snapshot-"
        /// A store that a command makes where nothing is.
        case creation = "new-"
        /// The store as it was before a migration.
        case backup = "backup-"

        /// The part of the file's name after the UUID. It keeps the UUID in the name of the folder of the store's external values; a
        /// replacement finds its values in the folder of the store whose place it takes.
        fileprivate var ending: String { self == .replacement ? "" : ".store" }
    }

    package let path: String
    private let mark: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - path: the store whose place is taken.
    ///   - discard: removes the store of a killed process at a path.
    package init(for path: String, _ purpose: Purpose, discard: (String) -> Void) {
        Self.removeLeft(for: path, [purpose]) { discard($1) }
        let store = URL(fileURLWithPath: path)
        self.path =
            store.deletingLastPathComponent().appendingPathComponent(
                Self.start(store, purpose) + UUID().uuidString + purpose.ending
            ).path
        mark = self.path + Self.markEnding
        descriptor = FileWriting.openLocked(mark, O_RDWR | O_EXCL, mode: 0o600)
    }

    /// Removes what killed processes left that made a store for the place of the one at `path`. It reads the names of all files of
    /// the folder.
    ///
    /// - Parameter discard: removes the store of a killed process at a path.
    package static func removeLeft(for path: String, _ purposes: [Purpose], discard: (Purpose, String) -> Void) {
        let store = URL(fileURLWithPath: path)
        let folder = store.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for purpose in purposes {
            for name in left(of: names, start(store, purpose), purpose.ending) {
                Self.discard(folder.appendingPathComponent(name).path) { discard(purpose, $0) }
            }
        }
    }

    private static func start(_ store: URL, _ purpose: Purpose) -> String {
        ".\(store.lastPathComponent).\(purpose.rawValue)"
    }

    /// Removes the mark, for a caller that has removed the store or put it in its place.
    package func end() { if descriptor >= 0 { PlainFile.remove(mark) } }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static let markEnding = ".making"

    /// The names of stores that were marked for one place.
    private static func left(of names: [String], _ start: String, _ ending: String) -> [String] {
        names.compactMap { name in
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
