import CoreData

/// Keys for new rows, taken from the sequences in blocks.
final class ServerKeys {
    private var free: [String: [Range<Int64>]] = [:]
    private var wasAsked = false

    /// Returns true if keys were requested from the server since the last call.
    func takeWasAsked() -> Bool {
        defer { wasAsked = false }
        return wasAsked
    }

    /// Returns one key for each of `tables`, in the same order. At most one round trip.
    func take(
        _ tables: [ServerTable], _ layout: ServerLayout, _ connection: any ServerConnection
    ) throws -> [Int64] {
        var wanted: [String: Int] = [:]
        for table in tables { wanted[table.sequence, default: 0] += 1 }
        var statements: [ServerStatement] = []
        var sequences: [String] = []
        for (sequence, count) in wanted {
            let missing = count - (free[sequence] ?? []).reduce(0) { $0 + $1.count }
            guard missing > 0 else { continue }
            let blocks = (Int64(missing) + ServerStoreTables.keysAtOnce - 1) / ServerStoreTables.keysAtOnce
            sequences.append(sequence)
            statements.append(
                ServerStatement(
                    "SELECT nextval(?::regclass) FROM generate_series(1, ?)",
                    [.value(.text(layout.tableText(sequence)), .text), .value(.integer(blocks), .bigint)]))
        }
        if !statements.isEmpty { wasAsked = true }
        for (sequence, result) in zip(sequences, try connection.run(statements)) {
            for row in 0..<result.rowCount {
                guard case .integer(let first) = result.value(row, 0) else { continue }
                free[sequence, default: []].append(first..<first + ServerStoreTables.keysAtOnce)
            }
        }
        // Sorted descending, because removing from the front of an array would move all other elements.
        for sequence in wanted.keys { free[sequence]?.sort { $0.lowerBound > $1.lowerBound } }
        return tables.map { table in
            guard var range = free[table.sequence]?.popLast() else {
                preconditionFailure("There are as many keys as rows.")
            }
            let key = range.removeFirst()
            if !range.isEmpty { free[table.sequence]?.append(range) }
            return key
        }
    }
}
