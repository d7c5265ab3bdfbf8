import CoreData
import Foundation

/// Copies of a store that a command makes in the same folder before large changes.
enum StoreCopies {
    /// Copies a store under an unused name: `STORE.suffix.sqlite`, `STORE.suffix-2.sqlite` ….
    ///
    /// - Parameter store: the store whose name the copy gets; `nil` for the copied store.
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
            // External values of a deleted copy may still exist.
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

    /// Replaces a store with the contents of another one, including external values.
    static func replace(_ url: URL, with other: URL) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: url, withPersistentStoreFrom: other, type: StorePlace(url: other).type)
    }

    /// Removes files left by killed commands in the folder of a store, even if these had finished the last step: there
    /// may be no later command of that kind to remove them.
    static func removeLeft(besides store: URL) {
        StoreInMaking.removeAllLeft(for: store.path)
        _ = freeName(for: store, backupSuffix)
    }

    /// Name suffix of the copy that a migration keeps.
    static let backupSuffix = "before-migration"
}
