import Foundation

// Files that migrations, copies and replacements leave when they are killed.
extension StoreInMaking {
    /// Removes a store that was made to be put in another's place, as far as it was made, and what was left of making it.
    package static func discard(_ path: String) {
        // Behind a link is another's store.
        guard PlainFile.kind(path) != .link else { return }
        removeAllLeft(for: path)
        StoreFiles.remove(at: path)
        SupportFolder(ofStoreAt: path).removeAll()
    }

    /// Removes everything that killed processes left when they made a store for the place `path`. Stores that others are making
    /// stay.
    package static func removeAllLeft(for path: String) {
        removeLeft(for: path, Purpose.allCases) { purpose, left in
            if purpose == .replacement { StoreReplacement.discard(left, for: path) } else { discard(left) }
        }
        StoreFileReplacement(path: path).removeLeft()
    }
}
