/// IDs by their keys, found without hashing.
struct WantedIDs {
    /// In ascending order.
    let keys: [Int64]
    private let ids: [NSManagedObjectID]

    init(_ ids: [NSManagedObjectID]) {
        var pairs: [(key: Int64, id: NSManagedObjectID)] = []
        pairs.reserveCapacity(ids.count)
        for id in ids {
            if let key = id.rowKey { pairs.append((key.reference, id)) }
        }
        if pairs.count > 1 { pairs.sort { $0.key < $1.key } }
        keys = pairs.map(\.key)
        self.ids = pairs.map(\.id)
    }

    subscript(key: Int64) -> NSManagedObjectID? {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? ids[low] : nil
    }
}
