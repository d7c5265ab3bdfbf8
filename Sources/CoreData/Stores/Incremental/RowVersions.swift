/// The framework's own versions of an incremental store's rows.
///
/// A store may use any numbers, or a constant. The versions compared here only grow: by one with each save through the
/// store, and with each number of the store that differs from the last.
struct RowVersions {
    private struct Entry {
        var version: Int64
        /// The last version that the store gave; `nil` after a save, until it gives one.
        var told: UInt64?
        /// True if the row was deleted through this store.
        var isGone = false
    }

    private var entries: [RowKey: Entry] = [:]

    /// Returns the version of a row that was just read.
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

    /// True if the row is deleted or its version differs from `base`. False for a row that was not read yet.
    func isStale(_ key: RowKey, _ base: Int64) -> Bool {
        guard let entry = entries[key] else { return false }
        return entry.isGone || entry.version != base
    }

    /// Returns true if the row was deleted through this store and did not exist again since.
    func isGone(_ key: RowKey) -> Bool { entries[key]?.isGone ?? false }

    mutating func didSave(_ key: RowKey, _ version: Int64) { entries[key] = Entry(version: version, told: nil) }

    mutating func didDelete(_ key: RowKey) { entries[key]?.isGone = true }
}
