/// What ``StoreOperations/dataVersion()`` of each store was when a context last fetched from it.
///
/// A store that is gone is forgotten: another one, which may have its address, is not compared with it.
struct SeenDataVersions {
    private struct Entry {
        weak var store: NSPersistentStore?
        var version: Int64
    }

    private var entries: [Entry] = []

    /// How many stores are remembered.
    var count: Int { entries.count }

    /// Remembers the version of a store.
    ///
    /// - Returns: whether the store was seen before, with another version.
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
