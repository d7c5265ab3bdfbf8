import Foundation
import SQLiteAccess

// The history of a store. A store without one returns no transactions and removes none.
extension SQLiteStore {
    func lastHistoryNumber() throws -> Int64? {
        try withSession { $0.hasHistory ? try $0.historyQueries.lastNumber() : nil }
    }

    var lastOwnHistoryNumber: Int64? { ownTransactions.last }

    func history(after number: Int64) throws -> [StoreTransaction] {
        try history(after: number, withChanges: true)
    }

    func history(after number: Int64, withChanges: Bool) throws -> [StoreTransaction] {
        try withSession { session in
            guard session.hasHistory else { return [] }
            return try session.historyQueries.transactions(
                after: number, own: ownTransactions, withChanges: withChanges)
        }
    }

    func lastRemovedHistoryNumber() throws -> Int64 {
        try withSession { $0.hasHistory ? try $0.historyQueries.lastRemovedNumber() : 0 }
    }

    func firstHistoryNumber(after date: Date) throws -> Int64? {
        try withSession { $0.hasHistory ? try $0.historyQueries.firstNumber(after: date) : nil }
    }

    func deleteHistory(before number: Int64) throws -> Int {
        try checkWritable()
        return try withSession(.saving) { session in
            guard session.hasHistory else { return 0 }
            let removed = try HistoryRemoval(connection: session.connection).removeTransactions(before: number)
            ownTransactions.removeAll(through: try session.historyQueries.lastRemovedNumber())
            return removed
        }
    }
}
