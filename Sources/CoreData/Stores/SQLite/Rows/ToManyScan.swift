import SQLiteAccess

/// Reads the to-many lists of a good part of all owners with one scan of the destinations' table: an index on the owner
/// would look up row after row, each wherever in the table it stands.
struct ToManyScan {
    let connection: Connection
    /// Selects the destinations in the order of their keys, with their owner's key.
    let text: String
    let decoder: RowDecoder
    let ownerColumn: Int

    /// Longer lists are quicker looked up: then most of the table may belong to others.
    private static let longList: Int64 = 64

    /// Returns true if there are so few rows in the destinations' table (its quoted name) that most may be wanted.
    static func isWorthwhile(for ownerCount: Int, destinations table: String, _ connection: Connection) throws -> Bool {
        let greatest = try connection.integer("SELECT MAX(Z_PK) FROM \(table)") ?? 0
        return greatest / longList <= Int64(ownerCount)
    }

    /// For each of `owners`, in the same order, its destinations by their keys, with all rows.
    ///
    /// - Throws: SQLite's errors; ``ToManyQueries/ForeignEntity``.
    func rows(of owners: [NSManagedObjectID]) throws -> DestinationRows {
        var wanted = WantedKeys(owners)
        let index = KeyIndex(wanted.keys)
        var scanned = Scanned(ownerCount: wanted.keys.count)
        try connection.withStatement(text) { statement in
            while try statement.step() {
                // No key is 0, which is what an owner reads as that is not there.
                guard let owner = index.position(of: statement.integer(at: ownerColumn)) else { continue }
                guard decoder.isPrepared(for: statement), let (key, row) = decoder.row(of: statement) else {
                    throw ToManyQueries.ForeignEntity()
                }
                scanned.append(key, row, ofOwnerAt: owner)
            }
        }
        var result = Array(repeating: 0..<0, count: owners.count)
        var start = 0
        for (owner, count) in scanned.counts.enumerated() where count > 0 {
            let range = start..<start + count
            wanted.forEachPlace(of: wanted.keys[owner]) { result[$0] = range }
            start += count
        }
        return scanned.takeGrouped(ranges: result)
    }
}

/// Rows in the order of a scan, which are wanted by their owners.
private struct Scanned {
    private var keys: [RowKey] = []
    private var rows: [RowSnapshot?] = []
    /// Whose each is.
    private var owners: [Int32] = []
    /// The number of destinations of each owner.
    private(set) var counts: [Int]
    /// True if the rows of each owner follow those of the last, as in a table that was filled owner by owner.
    private var areGrouped = true

    init(ownerCount: Int) { counts = Array(repeating: 0, count: ownerCount) }

    mutating func append(_ key: RowKey, _ row: consuming RowSnapshot, ofOwnerAt owner: Int) {
        if let last = owners.last, last > owner { areGrouped = false }
        keys.append(key)
        rows.append(row)
        owners.append(Int32(truncatingIfNeeded: owner))
        counts[owner] += 1
    }

    /// Gives all rows away, those of one owner after those of the other, each owner's in the order in which they came.
    mutating func takeGrouped(ranges: [Range<Int>]) -> DestinationRows {
        if areGrouped { return DestinationRows(keys: keys, rows: RowList(taking: &rows), ranges: ranges) }
        var places = Array(keys.indices)
        var next = counts.indices.map { _ in 0 }
        for owner in 1..<counts.count { next[owner] = next[owner - 1] + counts[owner - 1] }
        for (place, owner) in owners.enumerated() {
            places[next[Int(owner)]] = place
            next[Int(owner)] += 1
        }
        return DestinationRows(
            keys: places.map { keys[$0] }, rows: RowList(taking: places, outOf: &rows), ranges: ranges)
    }
}

/// From a key to its first position in an ascending list: at once where the keys lie close together.
private struct KeyIndex {
    private let keys: [Int64]
    /// By the distance from the first key; empty where that would take too much memory. -1 where there is no such key.
    private var positions: [Int32] = []

    init(_ keys: [Int64]) {
        self.keys = keys
        guard let first = keys.first, let last = keys.last, last - first < keys.count * 16 else { return }
        positions = Array(repeating: -1, count: Int(last - first) + 1)
        for (position, key) in keys.enumerated().reversed() { positions[Int(key - first)] = Int32(position) }
    }

    func position(of key: Int64) -> Int? {
        guard let first = keys.first, let last = keys.last, key >= first, key <= last else { return nil }
        if !positions.isEmpty {
            let position = positions[Int(key - first)]
            return position < 0 ? nil : Int(position)
        }
        let place = keys.partitioningIndex { $0 >= key }
        return keys[place] == key ? place : nil
    }
}
