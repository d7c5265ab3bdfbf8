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
    private var staged: Staged?

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

    /// Writes a change set, its history and, where they changed, the store's metadata in a transaction that stays open
    /// until ``commitStaged()`` or ``abandonStaged()``. Nothing is left of it when this throws.
    func stage(_ changes: StoreChangeSet, metadata: [String: Any]?) throws {
        let isBig = changes.inserted.count + changes.updated.count + changes.deleted.count > Self.bigSave
        let cacheSize = isBig ? try raiseCacheSize() : nil
        do {
            staged = Staged(number: try begin(changes, metadata), cacheSize: cacheSize)
        } catch {
            restoreCacheSize(cacheSize)
            throw error
        }
    }

    /// - Returns: the number of the transaction in the history.
    func commitStaged() throws -> Int64? {
        guard let staged else { return nil }
        defer { endStaged() }
        try connection.commit()
        return staged.number
    }

    func abandonStaged() {
        connection.rollBack()
        endStaged()
    }

    /// A save that was not committed yet.
    private struct Staged {
        let number: Int64?
        /// The size of the cache before it was raised.
        let cacheSize: Int64?
    }

    private func endStaged() {
        restoreCacheSize(staged?.cacheSize)
        staged = nil
    }

    /// From this many rows on a save gets a cache of 64 MB, that holds the indexes that it writes to all over: keeping them
    /// up to date takes half the time, while sorts would take longer.
    private static let bigSave = 5000
    private static let bigCache = "-65536"

    /// - Returns: the size before.
    private func raiseCacheSize() throws -> Int64? {
        guard case .integer(let before)? = try connection.pragma("cache_size") else { return nil }
        try connection.setPragma("cache_size", to: Self.bigCache)
        return before
    }

    private func restoreCacheSize(_ size: Int64?) {
        if let size { _ = try? connection.setPragma("cache_size", to: "\(size)") }
    }

    /// A row may give a unique value up that another one takes: if they come in the wrong order, everything is written
    /// again, with those values taken out first.
    private func begin(_ changes: StoreChangeSet, _ metadata: [String: Any]?) throws -> Int64? {
        do {
            return try connection.opening { try write(changes, metadata, vacatesUniqueValues: false) }
        } catch let error as SQLiteError where error.kind == .uniqueConstraint && !changes.updated.isEmpty {
            return try connection.opening { try write(changes, metadata, vacatesUniqueValues: true) }
        }
    }

    private func write(
        _ changes: StoreChangeSet, _ metadata: [String: Any]?, vacatesUniqueValues: Bool
    ) throws -> Int64? {
        let writer = hasHistory ? historyWriter : nil
        let tombstones = try writer?.tombstones(of: changes.deleted) ?? [:]
        let transaction = SaveTransaction(connection: connection, layout: layout, statements: statements)
        let conflicts = try transaction.write(changes, vacatesUniqueValues: vacatesUniqueValues)
        guard conflicts.isEmpty else { throw StoreConflicts(rows: try current(of: conflicts)) }
        if let metadata { try StoreMetadata.write(metadata, to: connection) }
        return changes.isEmpty ? nil : try writer?.write(changes, tombstones: tombstones)
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
