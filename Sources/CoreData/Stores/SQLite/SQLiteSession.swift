import Foundation
import SQLiteAccess

/// The open connection of a store with its cached plans, and the transaction of a save: staged, then committed or
/// abandoned.
final class SQLiteSession {
    let connection: Connection
    let layout: TableLayout
    let ids: ObjectIDCache
    let context: DecodingContext
    let rowPlans: RowPlans
    let statements: RowStatementsCache
    private let toManyPlans: ToManyPlans
    private let sortings = KnownSortings()
    let historyColumns: HistoryColumnsCache
    /// True if saves are written to the history.
    let hasHistory: Bool
    let tombstoneCount: Int
    private var staged: Staged?
    /// True if the store's metadata has the key that records long decimals.
    var saysLongDecimals = false {
        didSet { if saysLongDecimals { layout.keepsLongDecimals = true } }
    }
    let affectedRows = AffectedRows()

    init(connection: Connection, layout: TableLayout, file: StoredSchema, store: NSPersistentStore, path: String) {
        self.connection = connection
        self.layout = layout
        self.ids = ObjectIDCache(store: store)
        self.context = DecodingContext(layout: layout, externalData: ExternalData(storePath: path), ids: ids)
        self.rowPlans = RowPlans(context: context)
        self.statements = RowStatementsCache(layout: layout)
        self.toManyPlans = ToManyPlans(context: context)
        self.historyColumns = HistoryColumnsCache(layout: layout)
        self.hasHistory =
            file.hasTable("ACHANGE") && file.hasTable("ATRANSACTION") && file.hasTable("ATRANSACTIONSTRING")
        self.tombstoneCount = file.columns(of: "ACHANGE").count { $0.hasPrefix("ZTOMBSTONE") }
    }

    var rowQueries: RowQueries {
        RowQueries(connection: connection, context: context, plans: rowPlans, sortings: sortings)
    }
    var rowLookup: RowLookup { RowLookup(connection: connection, context: context, plans: rowPlans) }
    var toManyQueries: ToManyQueries {
        ToManyQueries(connection: connection, context: context, ids: ids, plans: toManyPlans)
    }

    var derivedUpkeep: DerivedUpkeep {
        DerivedUpkeep(connection: connection, layout: layout, affected: affectedRows, lookup: rowLookup, ids: ids)
    }

    var historyWriter: HistoryWriter {
        HistoryWriter(connection: connection, layout: layout, columns: historyColumns)
    }

    var historyQueries: HistoryQueries {
        HistoryQueries(
            connection: connection, context: context, columns: historyColumns, tombstoneCount: tombstoneCount)
    }

    /// Registers for the rows that the store's triggers change. Called once, for a store that is written.
    func listenToTriggers() throws { try affectedRows.register(on: connection) }

    /// The result of a save.
    struct SaveOutcome {
        /// The number of the transaction in the history.
        var historyNumber: Int64?
        /// Rows that triggers changed. They may differ from the rows passed in, or not be among them.
        var rows: [NSManagedObjectID: RowSnapshot] = [:]
    }

    /// Writes a change set, its history and changed metadata in a transaction that stays open until ``commitStaged()``
    /// or ``abandonStaged()``. Rolled back if this throws.
    func stage(_ changes: StoreChangeSet, metadata: [String: Any]?) throws {
        try layout.unreadable.check(changes)
        let isBig = changes.inserted.count + changes.updated.count + changes.deleted.count > Self.bigSave
        let cacheSize = isBig ? try raiseCacheSize(to: Self.bigCache) : nil
        let files = ExternalDataChanges(context.externalData)
        do {
            staged = Staged(outcome: try begin(changes, metadata, files), files: files, cacheSize: cacheSize)
        } catch {
            files.didRollBack()
            restoreCacheSize(cacheSize)
            throw error
        }
    }

    func commitStaged() throws -> SaveOutcome {
        guard let staged else { return SaveOutcome() }
        defer { endStaged() }
        do { try connection.commit() } catch {
            staged.files.didFailToCommit()
            throw error
        }
        staged.files.didCommit()
        return staged.outcome
    }

    func abandonStaged() {
        connection.rollBack()
        staged?.files.didRollBack()
        endStaged()
    }

    /// A save that is not committed yet.
    private struct Staged {
        let outcome: SaveOutcome
        let files: ExternalDataChanges
        /// The size of the cache before it was raised.
        let cacheSize: Int64?
    }

    private func endStaged() {
        restoreCacheSize(staged?.cacheSize)
        staged = nil
    }

    /// Minimum number of rows in a save that gets a cache of 64 MB. The save writes to indexes at random positions, and
    /// the cache halves the time for it. It is not kept, because a large cache slows down sorts.
    private static let bigSave = 500
    private static let bigCache = "-65536"

    /// The cache of a batch, which needs little memory whatever its size.
    static let batchCache = "-16384"
    /// The cache of a batch without indexes, and while its indexes are rebuilt at the end.
    static let smallCache = "-4096"

    /// Sets the size of the connection's page cache.
    ///
    /// - Returns: the previous size.
    func raiseCacheSize(to size: String) throws -> Int64? {
        guard case .integer(let before)? = try connection.pragma("cache_size") else { return nil }
        try connection.setPragma("cache_size", to: size)
        return before
    }

    func restoreCacheSize(_ size: Int64?) {
        if let size { _ = try? connection.setPragma("cache_size", to: "\(size)") }
    }

    /// Begins a transaction and writes the changes. If one row takes a unique value that another gives up, the order
    /// may violate the constraint; then everything is written again, after these values are cleared.
    private func begin(
        _ changes: StoreChangeSet, _ metadata: [String: Any]?, _ files: ExternalDataChanges
    ) throws -> SaveOutcome {
        do {
            return try connection.opening { try write(changes, metadata, files, vacatesUniqueValues: false) }
        } catch let error as SQLiteError where error.kind == .uniqueConstraint && !changes.updated.isEmpty {
            files.didRollBack()
            return try connection.opening { try write(changes, metadata, files, vacatesUniqueValues: true) }
        }
    }

    private func write(
        _ changes: StoreChangeSet, _ metadata: [String: Any]?, _ files: ExternalDataChanges, vacatesUniqueValues: Bool
    ) throws -> SaveOutcome {
        affectedRows.removeAll()
        let writer = hasHistory ? historyWriter : nil
        let rows = changes.inserted.count + changes.updated.count + changes.deleted.count
        changes.reporter?.begin(.writing, steps: writer == nil ? rows : 2 * rows)
        let tombstones = try writer?.tombstones(of: changes.deleted) ?? [:]
        let transaction = SaveTransaction(
            connection: connection, layout: layout, statements: statements, externalData: files)
        let conflicts = try transaction.write(changes, vacatesUniqueValues: vacatesUniqueValues)
        guard conflicts.isEmpty else { throw StoreConflicts(rows: try current(of: conflicts)) }
        try writeMetadata(metadata)
        let derived = try derivedUpkeep.finish(changes)
        var outcome = SaveOutcome(rows: derived.rows)
        outcome.rows.merge(layout.unreadable.stored(changes.inserted)) { read, _ in read }
        if !changes.isEmpty, let writer {
            var recorded = changes
            recorded.updated += derived.others
            outcome.historyNumber = try writer.write(recorded, tombstones: tombstones)
        }
        try files.sync(referred)
        try changes.reporter?.willCommit()
        return outcome
    }

    /// Records in the metadata that the store has long decimals.
    func noteLongDecimals() throws { try writeMetadata(nil) }

    /// Writes the metadata if it changed, or if the store has its first long decimal.
    private func writeMetadata(_ changed: [String: Any]?) throws {
        guard layout.keepsLongDecimals, changed != nil || !saysLongDecimals else {
            if let changed { try StoreMetadata.write(changed, to: connection) }
            return
        }
        var metadata = try changed ?? StoreMetadata.read(from: connection)
        metadata[DecimalCoding.metadataKey] = true
        try StoreMetadata.write(metadata, to: connection)
    }

    /// Removes files that no row refers to, because the process that saved them died.
    func clearUpExternalData() throws {
        guard context.externalData.keepsFiles, layout.unreadable.isEmpty else { return }
        try ExternalDataNote.clearUp(context.externalData, referred)
    }

    /// Returns the names of files that rows refer to, or all if unknown. Cost: reads the tables with external values.
    func referred(_ names: [String]) throws -> Set<String> {
        guard layout.unreadable.isEmpty else { return Set(names) }
        var found: Set<String> = []
        for table in layout.tables {
            for column in table.columns where column.attribute?.allowsExternalBinaryDataStorage == true {
                for start in stride(from: 0, to: names.count, by: Self.namesAtOnce) {
                    let some = names[start..<min(start + Self.namesAtOnce, names.count)]
                    found.formUnion(try referred(some, SQLName.quoted(table.name), SQLName.quoted(column.name)))
                }
            }
        }
        return found
    }

    private static let namesAtOnce = 500

    private func referred(_ names: ArraySlice<String>, _ table: String, _ column: String) throws -> [String] {
        // The length is compared first, so that values stored in the column are not read.
        let start = "substr(\(column), 1, \(ExternalData.referenceLength))"
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let rows = try connection.rows(
            "SELECT \(start) FROM \(table) WHERE length(\(column)) < 64 AND \(start) IN (\(marks))",
            names.map { .blob(ExternalData.reference(toFileNamed: $0).prefix(ExternalData.referenceLength)) })
        return rows.compactMap { row in
            guard case .blob(let stored) = row[0] else { return nil }
            return ExternalData.fileName(in: stored)
        }
    }

    /// Returns the current rows of `ids`. The running transaction has not written rows with conflicts.
    private func current(of ids: [NSManagedObjectID]) throws -> [(id: NSManagedObjectID, current: RowSnapshot?)] {
        var seen: Set<NSManagedObjectID> = []
        let unique = ids.filter { seen.insert($0).inserted }
        return zip(unique, try rowLookup.rows(inOrderOf: unique)).map { ($0, $1) }
    }

    /// Reserves keys for new rows, in one transaction.
    func reserveKeys(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        var counts: [ObjectIdentifier: (root: NSEntityDescription, count: Int64)] = [:]
        for run in runs {
            let root = run.entity.root
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
        result.reserveCapacity(runs.reduce(0) { $0 + $1.count })
        for run in runs {
            let root = ObjectIdentifier(run.entity.root)
            let first = next[root] ?? 0
            next[root] = first + Int64(run.count)
            result.append(contentsOf: ids.newIDs(entity: run.entity, from: first, count: run.count))
        }
        return result
    }
}
