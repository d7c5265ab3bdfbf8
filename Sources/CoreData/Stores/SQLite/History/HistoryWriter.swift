import Foundation
import SQLiteAccess

/// Writes the history of a save, within its transaction.
struct HistoryWriter {
    let connection: Connection
    let layout: TableLayout
    let columns: HistoryColumnsCache

    /// Reads the values to preserve before rows are deleted, by index in the change set's `deleted`.
    func tombstones(of deleted: [StoreRowChange]) throws -> [Int: [SQLiteValue]] {
        var result: [Int: [SQLiteValue]] = [:]
        for (place, row) in deleted.enumerated() {
            let preserved = columns[row.id.entity].preserved
            guard !preserved.isEmpty, let key = row.id.rowKey else { continue }
            let names = preserved.map { layout.column(of: $0, in: row.id.entity).map(SQLName.quoted) ?? "NULL" }
            let table = SQLName.quoted(layout.table(of: row.id.entity))
            let sql = "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE Z_PK = ?"
            result[place] = try connection.rows(sql, [.integer(key.reference)]).first
        }
        return result
    }

    /// Writes one transaction with a change for each row of `changes`.
    ///
    /// - Returns: the number of the transaction.
    func write(_ changes: StoreChangeSet, tombstones: [Int: [SQLiteValue]]) throws -> Int64 {
        let number = try begin(author: changes.author, contextName: changes.contextName)
        try append(changes, tombstones: tombstones, to: number)
        return number
    }

    /// Writes a change for each row of `changes` after the present ones of the transaction `number`.
    func append(_ changes: StoreChangeSet, tombstones: [Int: [SQLiteValue]] = [:], to number: Int64) throws {
        let count = changes.inserted.count + changes.updated.count + changes.deleted.count
        guard count > 0 else { return }
        let first = try reserve(Int64(count))
        var writer = HistoryChangeWriter(
            connection: connection, layout: layout, columns: columns, transaction: number, next: first,
            reporter: changes.reporter)
        try writer.writeInsertions(changes.inserted)
        try writer.write(.update, changes.updated)
        let firstDeletion = writer.next
        try writer.write(.delete, changes.deleted)
        for (place, values) in tombstones.sorted(by: { $0.key < $1.key }) {
            try writeTombstone(values, change: firstDeletion + Int64(place))
        }
    }

    /// Reserves the numbers of `count` changes.
    ///
    /// - Returns: the first number.
    func reserve(_ count: Int64) throws -> Int64 {
        try PrimaryKeys(connection: connection).reserve(count, entity: HistoryTables.change, table: "ACHANGE")
    }

    /// Writes a transaction without changes.
    ///
    /// - Returns: the transaction's number.
    func begin(author: String?, contextName: String?) throws -> Int64 {
        let number = try PrimaryKeys(connection: connection).reserve(
            1, entity: HistoryTables.transaction, table: "ATRANSACTION")
        let strings = [author, Self.bundle, contextName, Self.process]
        let keys = try strings.map { try $0.map { SQLiteValue.integer(try key(of: $0)) } ?? .null }
        try connection.execute(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) "
                + "VALUES (?, \(HistoryTables.transaction), ?, ?, ?, ?, ?)",
            [.integer(number)] + keys + [.real(Date().timeIntervalSinceReferenceDate)])
        return number
    }

    private static let process = ProcessInfo.processInfo.processName
    private static let bundle = Bundle.main.bundleIdentifier ?? process

    /// Returns the key of a text in the table of texts, which has each text once.
    private func key(of text: String) throws -> Int64 {
        let known = try connection.integer("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(text)])
        if let known { return known }
        let key = try PrimaryKeys(connection: connection).reserve(
            1, entity: HistoryTables.transactionString, table: "ATRANSACTIONSTRING")
        try connection.execute(
            "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, \(HistoryTables.transactionString), ?)",
            [.integer(key), .text(text)])
        return key
    }

    private func writeTombstone(_ values: [SQLiteValue], change: Int64) throws {
        let terms = values.indices.map { "ZTOMBSTONE\($0) = ?" }.joined(separator: ", ")
        try connection.execute("UPDATE ACHANGE SET \(terms) WHERE Z_PK = ?", values + [.integer(change)])
    }
}
