import Foundation
import SQLiteAccess

/// Reads the persistent history.
struct HistoryQueries {
    let connection: Connection
    let context: DecodingContext
    let columns: HistoryColumnsCache
    /// The number of columns in the file for values of deleted rows.
    let tombstoneCount: Int

    private var layout: TableLayout { context.layout }

    /// Returns the number of the last transaction; 0 before the first. One lookup at the end of the table.
    func lastNumber() throws -> Int64 {
        let last = try connection.integer("SELECT MAX(Z_PK) FROM ATRANSACTION")
        if let last { return last }
        // If all transactions were removed, numbers continue after the last one that was used.
        return try connection.integer(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(HistoryTables.transaction)]) ?? 0
    }

    /// Returns the number of the last removed transaction: the one before the first that exists.
    func lastRemovedNumber() throws -> Int64 {
        if let first = try connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION") { return max(first, 1) - 1 }
        return try lastNumber()
    }

    /// Returns the lowest number of a later transaction.
    func firstNumber(after date: Date) throws -> Int64? {
        try connection.integer(
            "SELECT MIN(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP > ?", [.real(date.timeIntervalSinceReferenceDate)])
    }

    /// Returns the transactions after `number`, oldest first, without changes of entities that are not in the model.
    func transactions(
        after number: Int64, own: TransactionNumbers, withChanges: Bool = true
    ) throws -> [StoreTransaction] {
        try connection.reading {
            let changes = withChanges ? try changes(after: number) : [:]
            return try transactions(after: number, changes, own: own)
        }
    }

    private func transactions(
        after number: Int64, _ changes: [Int64: [StoreTransaction.Change]], own: TransactionNumbers
    ) throws -> [StoreTransaction] {
        func text(_ name: String) -> String {
            "IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.Z\(name)TS), t.Z\(name))"
        }
        let sql =
            "SELECT t.Z_PK, t.ZTIMESTAMP, \(text("AUTHOR")), \(text("CONTEXTNAME")), \(text("BUNDLEID")), "
            + "\(text("PROCESSID")) FROM ATRANSACTION AS t WHERE t.Z_PK > ? ORDER BY t.Z_PK"
        return try connection.withStatement(sql) { statement in
            try statement.bind(number, at: 1)
            func string(_ column: Int) -> String? { statement.isNull(at: column) ? nil : statement.text(at: column) }
            var result: [StoreTransaction] = []
            while try statement.step() {
                let number = statement.integer(at: 0)
                result.append(
                    StoreTransaction(
                        number: number, timestamp: Date(timeIntervalSinceReferenceDate: statement.real(at: 1)),
                        author: string(2), contextName: string(3), bundleID: string(4), processID: string(5),
                        isOwn: own.contains(number), changes: changes[number] ?? []))
            }
            return result
        }
    }

    private func changes(after number: Int64) throws -> [Int64: [StoreTransaction.Change]] {
        let tombstones = (0..<tombstoneCount).map { ", ZTOMBSTONE\($0)" }.joined()
        let sql =
            "SELECT Z_PK, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS\(tombstones) FROM ACHANGE "
            + "WHERE ZTRANSACTIONID > ? ORDER BY ZTRANSACTIONID, Z_PK"
        return try connection.withStatement(sql) { statement in
            try statement.bind(number, at: 1)
            var result: [Int64: [StoreTransaction.Change]] = [:]
            while try statement.step() {
                guard let change = change(statement) else { continue }
                result[statement.integer(at: 1), default: []].append(change)
            }
            return result
        }
    }

    private func change(_ statement: Statement) -> StoreTransaction.Change? {
        guard let entity = layout.entity(numbered: statement.integer(at: 3)),
            let kind = StoreTransaction.Kind(rawValue: Int(statement.integer(at: 2)))
        else { return nil }
        let columns = columns[entity]
        let names = kind == .update ? statement.withBytes(at: 5) { columns.names(in: $0, of: entity) } : []
        var tombstone: [String: SlotValue] = [:]
        if kind == .delete {
            for (place, attribute) in columns.preserved.prefix(tombstoneCount).enumerated() {
                tombstone[attribute.name] = context.value(of: attribute, at: 6 + place, of: statement)
            }
        }
        return StoreTransaction.Change(
            number: statement.integer(at: 0),
            key: RowKey(entity: UInt32(entity.layout.index), reference: statement.integer(at: 4)),
            kind: kind, changedProperties: names, tombstone: tombstone)
    }
}
