import SQLiteAccess

/// Removes the oldest part of a store's history.
struct HistoryRemoval {
    let connection: Connection

    /// Removes the transactions with numbers less than `number` and their changes, in one transaction. The counters
    /// stay, so that the next transaction has the same number as without the removal.
    ///
    /// - Returns: the number of removed transactions.
    func removeTransactions(before number: Int64) throws -> Int {
        try connection.transaction {
            let count = try connection.integer(
                "SELECT COUNT(*) FROM ATRANSACTION WHERE Z_PK < ?", [.integer(number)])
            guard let count, count > 0 else { return 0 }
            try keepCounter()
            try connection.execute("DELETE FROM ACHANGE WHERE ZTRANSACTIONID < ?", [.integer(number)])
            try connection.execute("DELETE FROM ATRANSACTION WHERE Z_PK < ?", [.integer(number)])
            return Int(count)
        }
    }

    /// Raises counters that are behind their tables, which would reuse the numbers of removed transactions.
    private func keepCounter() throws {
        for (entity, table) in [(HistoryTables.transaction, "ATRANSACTION"), (HistoryTables.change, "ACHANGE")] {
            try connection.execute(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(IFNULL(Z_MAX, 0), (SELECT IFNULL(MAX(Z_PK), 0) FROM \(table))) "
                    + "WHERE Z_ENT = ?", [.integer(entity)])
        }
    }
}

/// The numbers of transactions as ranges. A store with only one writer has a single range.
package struct TransactionNumbers {

    package init() {}
    private var ranges = RangeSet<Int64>()

    package mutating func insert(_ number: Int64) {
        guard number < .max else { return }
        ranges.insert(contentsOf: number..<number + 1)
    }

    /// Removes the numbers up to `number`.
    mutating func removeAll(through number: Int64) {
        guard let first = ranges.ranges.first?.lowerBound, first <= number, number < .max else { return }
        ranges.remove(contentsOf: first..<number + 1)
    }

    package var last: Int64? { ranges.ranges.last.map { $0.upperBound - 1 } }

    package func contains(_ number: Int64) -> Bool { ranges.contains(number) }

    /// The number of ranges. Each gap is due to transactions of another process.
    var rangeCount: Int { ranges.ranges.count }
}
