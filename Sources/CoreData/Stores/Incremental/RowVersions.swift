/// The versions of an incremental store's rows, as the framework counts them.
///
/// A store may count as it likes, or not at all; what is compared here only ever grows, by one with each save through the
/// store and with each version of the store's that was not seen before.
struct RowVersions {
    private struct Entry {
        var version: Int64
        /// What the store said last; `nil` after a save, until it says something.
        var told: UInt64?
        /// The row was deleted through this store.
        var isGone = false
    }

    private var entries: [RowKey: Entry] = [:]

    /// The version of a row that was read now.
    mutating func version(of key: RowKey, _ told: UInt64) -> Int64 {
        guard var entry = entries[key] else {
            let version = max(1, Int64(clamping: told))
            entries[key] = Entry(version: version, told: told)
            return version
        }
        if entry.isGone || entry.told.map({ $0 != told }) == true { entry.version &+= 1 }
        (entry.told, entry.isGone) = (told, false)
        entries[key] = entry
        return entry.version
    }

    /// True if a row is another one than that of the version `base`, or gone. A row that was not read yet is neither.
    func isStale(_ key: RowKey, _ base: Int64) -> Bool {
        guard let entry = entries[key] else { return false }
        return entry.isGone || entry.version != base
    }

    /// Returns true if the row was deleted through this store and did not exist again since.
    func isGone(_ key: RowKey) -> Bool { entries[key]?.isGone ?? false }

    mutating func didSave(_ key: RowKey, _ version: Int64) { entries[key] = Entry(version: version, told: nil) }

    mutating func didDelete(_ key: RowKey) { entries[key]?.isGone = true }
}
