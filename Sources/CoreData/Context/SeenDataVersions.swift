/// The ``StoreOperations/dataVersion()`` of each store when a context last fetched from it.
///
/// Entries of deallocated stores are dropped, so they are never compared with a new store at the same address.
struct SeenDataVersions {
    private struct Entry {
        weak var store: NSPersistentStore?
        var version: Int64
    }

    private var entries: [Entry] = []

    /// The number of remembered stores.
    var count: Int { entries.count }

    /// Remembers the version of a store.
    ///
    /// - Returns: true if the store was seen before with another version.
    mutating func note(_ version: Int64, of store: NSPersistentStore) -> Bool {
        if let index = entries.firstIndex(where: { $0.store === store }) {
            defer { entries[index].version = version }
            return entries[index].version != version
        }
        entries.removeAll { $0.store == nil }
        entries.append(Entry(store: store, version: version))
        return false
    }
}
