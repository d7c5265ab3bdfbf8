import SQLiteAccess

/// Reads the to-many lists of a large part of all owners with one scan of the destinations' table. With an index on the
/// owner SQLite would look up each row at a random position.
struct ToManyScan {
    let connection: Connection
    /// Selects the destinations sorted by key, with the key of their owner.
    let text: String
    let decoder: RowDecoder
    let ownerColumn: Int

    /// The average list length up to which a scan is worthwhile. In longer tables most rows may belong to other owners.
    private static let longList: Int64 = 64

    /// Returns true if the destinations' table (its quoted name) has so few rows for each owner that scanning it is
    /// faster than looking the destinations up.
    static func isWorthwhile(for ownerCount: Int, destinations table: String, _ connection: Connection) throws -> Bool {
        let greatest = try connection.integer("SELECT MAX(Z_PK) FROM \(table)") ?? 0
        return greatest / longList <= Int64(ownerCount)
    }

    /// Returns the destinations of each of `owners` in the same order, sorted by key, with all rows.
    ///
    /// - Throws: errors of SQLite; ``ToManyQueries/ForeignEntity``.
    func rows(of owners: [NSManagedObjectID]) throws -> DestinationRows {
        var wanted = WantedKeys(owners)
        let index = KeyIndex(wanted.keys)
        var scanned = Scanned(ownerCount: wanted.keys.count)
        try connection.withStatement(text) { statement in
            while try statement.step() {
                // A missing owner is read as 0, which is not a key.
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

/// Rows in the order of a scan, to be grouped by owner.
private struct Scanned {
    private var keys: [RowKey] = []
    private var rows: [RowSnapshot?] = []
    /// The owner's index for each row.
    private var owners: [Int32] = []
    /// The number of destinations of each owner.
    private(set) var counts: [Int]
    /// True if the rows are already grouped by owner, as in a table that was filled owner by owner.
    private var areGrouped = true

    init(ownerCount: Int) { counts = Array(repeating: 0, count: ownerCount) }

    mutating func append(_ key: RowKey, _ row: consuming RowSnapshot, ofOwnerAt owner: Int) {
        if let last = owners.last, last > owner { areGrouped = false }
        keys.append(key)
        rows.append(row)
        owners.append(Int32(truncatingIfNeeded: owner))
        counts[owner] += 1
    }

    /// Moves all rows out, grouped by owner and otherwise in the order of the scan.
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

/// Finds the first index of a key in an ascending list, in constant time if the keys are dense.
private struct KeyIndex {
    private let keys: [Int64]
    /// Indexes by distance from the first key, -1 for a missing key; empty if that would take too much memory.
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
