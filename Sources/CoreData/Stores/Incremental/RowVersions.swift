/// The versions of an incremental store's rows, as the framework counts them.
///
/// A store may count as it likes, or not at all; what is compared here only ever grows, by one with each save through the
/// store and with each version of the store's that was not seen before.
struct RowVersions {
    private struct Entry {
        var version: Int64
        /// What the store said last; `nil` after a save, until it says something.
        var told: UInt64?
    }

    private var entries: [RowKey: Entry] = [:]

    /// The version of a row that was read now.
    mutating func version(of key: RowKey, _ told: UInt64) -> Int64 {
        guard var entry = entries[key] else {
            let version = max(1, Int64(clamping: told))
            entries[key] = Entry(version: version, told: told)
            return version
        }
        if let before = entry.told, before != told { entry.version &+= 1 }
        entry.told = told
        entries[key] = entry
        return entry.version
    }

    /// `nil` for a row that was not read yet.
    func known(_ key: RowKey) -> Int64? { entries[key]?.version }

    mutating func didSave(_ key: RowKey, _ version: Int64) { entries[key] = Entry(version: version, told: nil) }

    mutating func forget(_ key: RowKey) { entries[key] = nil }
}
