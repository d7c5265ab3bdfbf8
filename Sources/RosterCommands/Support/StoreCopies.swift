import CoreData
import Foundation

/// Copies of a store beside it, that a command makes before it changes much.
enum StoreCopies {
    /// Copies a store under a name that nothing has: `STORE.suffix.sqlite`, `STORE.suffix-2.sqlite` ….
    ///
    /// - Parameter store: the store whose name the copy gets, where that is another one.
    static func keepCopy(of url: URL, as store: URL? = nil, suffix: String) throws -> URL {
        let copy = freeName(for: store ?? url, suffix)
        try replace(copy, with: url)
        return copy
    }

    private static func freeName(for store: URL, _ suffix: String) -> URL {
        let base = store.deletingPathExtension().path + "." + suffix
        let end = store.pathExtension.isEmpty ? "" : "." + store.pathExtension
        var copy = URL(fileURLWithPath: base + end)
        var number = 2
        while true {
            StoreInMaking.removeAllLeft(for: copy.path)
            // A copy that was deleted may have left its external values.
            guard
                FileManager.default.fileExists(atPath: copy.path)
                    || FileManager.default.fileExists(atPath: supportFolder(of: copy))
            else { return copy }
            copy = URL(fileURLWithPath: "\(base)-\(number)\(end)")
            number += 1
        }
    }

    static func supportFolder(of store: URL) -> String {
        let name = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
        return store.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Puts the contents of one store, with its external values, in the place of another.
    static func replace(_ url: URL, with other: URL) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: url, withPersistentStoreFrom: other, type: StorePlace(url: other).type)
    }

    /// Removes what killed commands left beside a store, also one that was killed when the store was in its place already: no later
    /// one of that kind may ever be made.
    static func removeLeft(besides store: URL) {
        StoreInMaking.removeAllLeft(for: store.path)
        _ = freeName(for: store, backupSuffix)
    }

    /// Of the copy that a migration is asked to keep.
    static let backupSuffix = "before-migration"
}
