import CoreData
import Foundation

/// Copies of a store beside it, that a command makes before it changes much.
enum StoreCopies {
    /// Copies the store under a name that nothing has: `STORE.suffix.sqlite`, `STORE.suffix-2.sqlite` ….
    static func keepCopy(of url: URL, suffix: String) throws -> URL {
        let base = url.deletingPathExtension().path + "." + suffix
        let end = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        var copy = URL(fileURLWithPath: base + end)
        var number = 2
        // A copy that was deleted may have left its external values.
        while FileManager.default.fileExists(atPath: copy.path)
            || FileManager.default.fileExists(atPath: supportFolder(of: copy))
        {
            copy = URL(fileURLWithPath: "\(base)-\(number)\(end)")
            number += 1
        }
        try replace(copy, with: url)
        return copy
    }

    private static func supportFolder(of store: URL) -> String {
        let name = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
        return store.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Puts the contents of one store, with its external values, in the place of another.
    static func replace(_ url: URL, with other: URL) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: url, withPersistentStoreFrom: other, type: StorePlace(url: other).type)
    }

    /// Removes a store that was made to be put in another's place, as far as it was made: it may be no store yet.
    static func discard(_ path: String) {
        try? remove(URL(fileURLWithPath: path))
        removeFiles(path)
    }

    private static func removeFiles(_ path: String) {
        for end in ["", "-wal", "-shm", "-journal"] { unlink(path + end) }
    }

    /// Removes what killed migrations and copies left beside a store, also one that was killed when the store was in its place
    /// already: no later one of that kind may ever be made.
    static func removeLeft(besides store: URL) {
        StoreInMaking.removeLeft(for: store.path, StoreInMaking.Purpose.allCases) { purpose, path in
            // A replacement has no folder of external values of its own.
            if purpose == .replacement { removeFiles(path) } else { discard(path) }
        }
    }

    /// Removes a copy that a command made. Does nothing where there is none.
    static func remove(_ copy: URL) throws {
        guard FileManager.default.fileExists(atPath: copy.path) else { return }
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).destroyPersistentStore(
            at: copy, type: StorePlace(url: copy).type)
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + end) }
    }
}
