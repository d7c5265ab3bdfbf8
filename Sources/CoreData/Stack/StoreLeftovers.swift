import Foundation

// Files that killed migrations, copies and replacements have left.
extension StoreInMaking {
    /// Removes a store that was being made as a replacement, and the temporary files of making it.
    package static func discard(_ path: String) {
        // A link refers to another store, which must not be removed.
        guard PlainFile.kind(path) != .link else { return }
        removeAllLeft(for: path)
        StoreFiles.remove(at: path)
        SupportFolder(ofStoreAt: path).removeAll()
    }

    /// Removes all files that killed processes left while making a store for `path`. Stores that running processes
    /// are making are kept.
    package static func removeAllLeft(for path: String) {
        removeLeft(for: path, Purpose.allCases) { purpose, left in
            if purpose == .replacement { StoreReplacement.discard(left, for: path) } else { discard(left) }
        }
        StoreFileReplacement(path: path).removeLeft()
    }
}
