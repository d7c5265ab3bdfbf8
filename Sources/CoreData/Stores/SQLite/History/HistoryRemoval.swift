import SQLiteAccess

/// Removes the beginning of a store's history.
struct HistoryRemoval {
    let connection: Connection

    /// Removes the transactions whose number is less than `number`, with their changes, in one transaction. The counters
    /// stay: the next transaction has the number that it would have had.
    ///
    /// - Returns: How many transactions were removed.
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

    /// A counter that lags behind its table would give the numbers of removed transactions out again.
    private func keepCounter() throws {
        for (entity, table) in [(HistoryTables.transaction, "ATRANSACTION"), (HistoryTables.change, "ACHANGE")] {
            try connection.execute(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(IFNULL(Z_MAX, 0), (SELECT IFNULL(MAX(Z_PK), 0) FROM \(table))) "
                    + "WHERE Z_ENT = ?", [.integer(entity)])
        }
    }
}

/// Numbers of transactions, as ranges: those of the only writer of a store are one range, however many there are.
package struct TransactionNumbers {

    package init() {}
    private var ranges = RangeSet<Int64>()

    package mutating func insert(_ number: Int64) {
        guard number < .max else { return }
        ranges.insert(contentsOf: number..<number + 1)
    }

    /// Forgets the numbers up to `number`.
    mutating func removeAll(through number: Int64) {
        guard let first = ranges.ranges.first?.lowerBound, first <= number, number < .max else { return }
        ranges.remove(contentsOf: first..<number + 1)
    }

    package var last: Int64? { ranges.ranges.last.map { $0.upperBound - 1 } }

    package func contains(_ number: Int64) -> Bool { ranges.contains(number) }

    /// How many ranges it keeps: one for each gap that another process's transactions leave.
    var rangeCount: Int { ranges.ranges.count }
}
