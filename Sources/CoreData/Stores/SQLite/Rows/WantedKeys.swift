/// The ascending keys of a list of IDs, with their indexes in the list, so that rows can be put in the list's order
/// without hashing IDs.
struct WantedKeys {
    /// In ascending order.
    let keys: [Int64]
    /// The indexes in the list; `nil` if the list was ascending.
    private let places: [Int]?
    /// The index of the key expected next. Rows usually arrive in the order of their keys.
    private var next = 0

    init(_ ids: [NSManagedObjectID]) {
        var found: [(key: Int64, place: Int)] = []
        found.reserveCapacity(ids.count)
        var isAscending = true
        for (place, id) in ids.enumerated() {
            guard let key = id.rowKey?.reference else { continue }
            if let last = found.last, last.key > key { isAscending = false }
            found.append((key, place))
        }
        if !isAscending { found.sort { $0.key < $1.key } }
        keys = found.map(\.key)
        places = isAscending && found.count == ids.count ? nil : found.map(\.place)
    }

    /// Calls `body` with each index of `key` in the list.
    @inline(__always)
    mutating func forEachPlace(of key: Int64, _ body: (Int) -> Void) {
        if next == keys.count || keys[next] != key { next = firstPlace(of: key) }
        while next < keys.count, keys[next] == key {
            body(places?[next] ?? next)
            next += 1
        }
    }

    private func firstPlace(of key: Int64) -> Int { keys.partitioningIndex { $0 >= key } }
}
