import Foundation
import SQLiteAccess

/// An open store with everything that was worked out for it once.
final class SQLiteSession {
    let connection: Connection
    let layout: TableLayout
    let ids: ObjectIDCache
    let context: DecodingContext
    let rowPlans: RowPlans
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
        self.rowPlans = RowPlans(context: context)
        self.statements = RowStatementsCache(layout: layout)
        self.historyColumns = HistoryColumnsCache(layout: layout)
        self.hasHistory =
            file.hasTable("ACHANGE") && file.hasTable("ATRANSACTION") && file.hasTable("ATRANSACTIONSTRING")
        self.tombstoneCount = file.columns(of: "ACHANGE").count { $0.hasPrefix("ZTOMBSTONE") }
    }

    var rowQueries: RowQueries { RowQueries(connection: connection, context: context, plans: rowPlans) }
    var rowLookup: RowLookup { RowLookup(connection: connection, context: context, plans: rowPlans) }
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
        let isBig = changes.inserted.count + changes.updated.count + changes.deleted.count > Self.bigSave
        return isBig ? try withBigCache { try write(changes, metadata) } : try write(changes, metadata)
    }

    /// From this many rows on a save gets a cache that holds the indexes that it writes to all over.
    private static let bigSave = 5000
    private static let bigCache = "-65536"

    /// Runs `body` with a cache of 64 MB: keeping indexes up to date takes half the time, while sorts would take longer.
    private func withBigCache<Result>(_ body: () throws -> Result) throws -> Result {
        guard case .integer(let before)? = try connection.pragma("cache_size") else { return try body() }
        try connection.setPragma("cache_size", to: Self.bigCache)
        defer { _ = try? connection.setPragma("cache_size", to: "\(before)") }
        return try body()
    }

    private func write(_ changes: StoreChangeSet, _ metadata: [String: Any]?) throws -> Int64? {
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
        // Objects of one entity mostly come in a row: what belongs to a run is looked up once.
        var counts: [ObjectIdentifier: (root: NSEntityDescription, count: Int64)] = [:]
        let runs = Self.runs(of: entities)
        for run in runs {
            let root = entities[run.lowerBound].root
            counts[ObjectIdentifier(root), default: (root, 0)].count += Int64(run.count)
        }
        let keys = PrimaryKeys(connection: connection)
        var next: [ObjectIdentifier: Int64] = [:]
        try connection.transaction {
            for (key, entry) in counts {
                next[key] = try keys.reserve(
                    entry.count, entity: layout.number(of: entry.root), table: layout.table(of: entry.root))
            }
        }
        var result: [NSManagedObjectID] = []
        result.reserveCapacity(entities.count)
        for run in runs {
            let entity = entities[run.lowerBound]
            let root = ObjectIdentifier(entity.root)
            let first = next[root] ?? 0
            next[root] = first + Int64(run.count)
            for offset in 0..<run.count { result.append(ids.id(entity: entity, reference: first + Int64(offset))) }
        }
        return result
    }

    /// The stretches of one entity.
    private static func runs(of entities: [NSEntityDescription]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start = 0
        for place in entities.indices where place + 1 == entities.count || entities[place + 1] !== entities[place] {
            runs.append(start..<place + 1)
            start = place + 1
        }
        return runs
    }
}
