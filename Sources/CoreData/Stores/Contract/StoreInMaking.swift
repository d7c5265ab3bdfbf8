import Foundation

import Glibc

/// The temporary path of a store that will replace another one once it is complete.
///
/// A lock file marks it as long as the process lives. The next process that creates a store for the same path removes
/// the remains of a killed process. Where the lock file cannot be created, the remains stay.
package final class StoreInMaking {
    /// The reason for the store: a part of its file name, between the other store's name and a UUID.
    package enum Purpose: String, CaseIterable {
        case migration = "migration-"
        case automaticMigration = "migrationdestination_"
        case replacement = "replacement-"
        case snapshot = "snapshot-"
        /// A store that a command creates where there was none.
        case creation = "new-"
        /// A copy of the store before a migration.
        case backup = "backup-"

        /// The file name's ending after the UUID. With it the UUID is also in the folder name of the external values; a
        /// replacement instead uses the folder of the store that it replaces.
        fileprivate var ending: String { self == .replacement ? "" : ".store" }
    }

    package let path: String
    private let mark: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - path: the path of the store to replace.
    ///   - discard: removes the store at a path that a killed process left.
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

    /// Removes stores that killed processes left while making one for `path`. Lists all files of the folder.
    ///
    /// - Parameter discard: removes the store at a path that a killed process left.
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

    /// Removes the lock file, after the caller has removed the store or moved it to its final path.
    package func end() { if descriptor >= 0 { PlainFile.remove(mark) } }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static let markEnding = ".making"

    /// The names of marked stores for one path.
    private static func left(of names: [String], _ start: String, _ ending: String) -> [String] {
        names.compactMap { name in
            guard name.hasPrefix(start), name.hasSuffix(ending + markEnding) else { return nil }
            let uuid = name.dropFirst(start.count).dropLast(ending.count + markEnding.count)
            return UUID(uuidString: String(uuid)) == nil ? nil : String(name.dropLast(markEnding.count))
        }
    }

    /// Removes the remains of a killed process. Does nothing if the process still lives.
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
