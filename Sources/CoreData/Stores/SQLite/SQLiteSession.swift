import Foundation
import SQLiteAccess

/// An open store with everything that was worked out for it once.
final class SQLiteSession {
    let connection: Connection
    let layout: TableLayout
    let ids: ObjectIDCache
    let context: DecodingContext
    let statements: RowStatementsCache
    let historyColumns: HistoryColumnsCache
    /// Whether saves are written to the history.
    let hasHistory: Bool
    let tombstoneCount: Int

    init(connection: Connection, layout: TableLayout, file: StoredSchema, store: NSPersistentStore, path: String) {
        self.connection = connection
        self.layout = layout
        self.ids = ObjectIDCache(store: store)
        self.context = DecodingContext(layout: layout, externalData: ExternalData(storePath: path), ids: ids)
        self.statements = RowStatementsCache(layout: layout)
        self.historyColumns = HistoryColumnsCache(layout: layout)
        self.hasHistory =
            file.hasTable("ACHANGE") && file.hasTable("ATRANSACTION") && file.hasTable("ATRANSACTIONSTRING")
        self.tombstoneCount = file.columns(of: "ACHANGE").count { $0.hasPrefix("ZTOMBSTONE") }
    }

    var rowQueries: RowQueries { RowQueries(connection: connection, context: context) }
    var rowLookup: RowLookup { RowLookup(connection: connection, context: context) }
    var toManyQueries: ToManyQueries { ToManyQueries(connection: connection, context: context, ids: ids) }

    var historyWriter: HistoryWriter {
        HistoryWriter(connection: connection, layout: layout, columns: historyColumns)
    }

    var historyQueries: HistoryQueries {
        HistoryQueries(
            connection: connection, context: context, columns: historyColumns, tombstoneCount: tombstoneCount)
    }

    /// Writes a change set, its history and, where they changed, the store's metadata as one transaction.
    ///
    /// - Returns: the number of the transaction in the history.
    func save(_ changes: StoreChangeSet, metadata: [String: Any]?) throws -> Int64? {
        try connection.transaction {
            let writer = hasHistory ? historyWriter : nil
            let tombstones = try writer?.tombstones(of: changes.deleted) ?? [:]
            let transaction = SaveTransaction(connection: connection, layout: layout, statements: statements)
            let conflicts = try transaction.write(changes)
            guard conflicts.isEmpty else { throw StoreConflicts(rows: try current(of: conflicts)) }
            if let metadata { try StoreMetadata.write(metadata, to: connection) }
            return changes.isEmpty ? nil : try writer?.write(changes, tombstones: tombstones)
        }
    }

    /// The rows of `ids` as they stand now. Those that have a conflict were not written by the transaction that runs.
    private func current(of ids: [NSManagedObjectID]) throws -> [(id: NSManagedObjectID, current: RowSnapshot?)] {
        var seen: Set<NSManagedObjectID> = []
        let unique = ids.filter { seen.insert($0).inserted }
        let rows = try rowLookup.rows(for: unique)
        return unique.map { ($0, rows[$0]) }
    }

    /// Reserves keys for new rows, in one transaction.
    func reserveKeys(for entities: [NSEntityDescription]) throws -> [NSManagedObjectID] {
        var counts: [ObjectIdentifier: (root: NSEntityDescription, count: Int64)] = [:]
        for entity in entities {
            counts[ObjectIdentifier(entity.root), default: (entity.root, 0)].count += 1
        }
        let keys = PrimaryKeys(connection: connection)
        var next: [ObjectIdentifier: Int64] = [:]
        try connection.transaction {
            for (key, entry) in counts {
                next[key] = try keys.reserve(
                    entry.count, entity: layout.number(of: entry.root), table: layout.table(of: entry.root))
            }
        }
        return entities.map { entity in
            let root = ObjectIdentifier(entity.root)
            let reference = next[root] ?? 0
            next[root] = reference + 1
            return ids.id(entity: entity, reference: reference)
        }
    }
}
