import Foundation
import PredicateSyntax

/// The interface of a store to contexts and the coordinator.
///
/// All members are called under the coordinator's lock, one at a time, from any thread. Exceptions are
/// ``objectID(for:)``, ``readsRowByRow``, ``answersFromIndexes`` and ``rowsOfQuestion``, which need no lock. Errors are
/// `CocoaError`s made by ``CoreDataError``, with the store's own error as the underlying one.
package protocol StoreOperations: RowsByID, AnyObject {
    /// Returns the keys of the matching rows in order, and on request the rows. One query, whatever the count.
    ///
    /// A part of the query that the store cannot do exactly is omitted and listed in the result's `unsupported`. Limit
    /// and offset are then omitted too, and the caller filters, sorts and cuts in memory.
    func fetch(_ query: StoreQuery) throws -> StoreQueryResult

    /// True if each row costs a query of its own. A list is then read when its objects are accessed.
    var readsRowByRow: Bool { get }

    /// True if the store knows which queries an index answers: see ``StoreQuery/indexedTerms``.
    var answersFromIndexes: Bool { get }

    /// True while the store has no connection and cannot be read. Sends nothing to a server.
    var isAway: Bool { get }

    /// The number of rows that take as long to read as a query without rows, if queries are slow; otherwise 0.
    var rowsOfQuestion: Int { get }

    /// Returns the number of matching rows, with limit and offset applied; `nil` if the store cannot count exactly.
    func count(_ query: StoreQuery) throws -> Int?

    /// Returns the values of the columns of each group, in order, with limit and offset applied. An object is a
    /// `reference`. `nil`, the default, if the store cannot do it exactly.
    func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]?

    /// Returns the result of ``destinations(of:inOrderOf:)`` with the first `limit` rows, in one query. `nil` if the
    /// store reads rows only by ID, or if there are more than `most`.
    func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> DestinationRows?

    /// Reserves a permanent ID for each new object of `runs`, in the same order.
    func obtainPermanentIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID]

    /// Reserves IDs in stores whose IDs depend on the objects; `nil` in other stores.
    func obtainPermanentIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]?

    /// Writes all changes as one transaction, or none of them, and the store's `metadata` if it changed.
    ///
    /// - Throws: ``StoreConflicts`` if a row changed since its base version; otherwise a `CocoaError`.
    func save(_ changes: StoreChangeSet) throws

    /// Returns rows that the last save changed as a side effect, such as those with derived values. Called once after
    /// each save. By default there are none.
    func takeDerivedRows() -> [NSManagedObjectID: RowSnapshot]

    /// Returns the ID of the row with `key`; the same row always has an equal ID. Can be called on any thread at any
    /// time, even after the store was closed.
    func objectID(for key: RowKey) -> NSManagedObjectID

    /// Returns the shared part of the IDs of the entity with that index. Can be called like ``objectID(for:)``.
    func idFamily(ofEntityAt index: UInt32) -> IDFamily

    /// Checks that the file at the store's URL is the open one. Microseconds; for polling. By default does nothing.
    ///
    /// - Throws: 134030 if other programs moved, deleted, replaced or overwrote the file; 260 for a read-only store;
    ///   134100 if the tables of a store on a server were migrated or removed.
    func checkFile() throws

    /// The file's current URL, even if it was moved since it was opened; `nil` if it was deleted. By default the URL.
    var fileURL: URL? { get }

    /// Copies the open store, wherever its file is, to a URL where no file exists.
    ///
    /// - Throws: 134060 for stores without files, which is the default.
    func copyOpenContents(to destination: URL) throws

    /// A number that grows when another connection commits. Takes a few microseconds; for polling.
    func dataVersion() throws -> Int64

    /// The properties with values that could not be decoded and were read as nil, one line each. By default none.
    var readingNotes: [ReadingNote] { get }

    /// The properties that the model has and the store lacks. By default none.
    var unreadable: UnreadableProperties { get }

    /// Returns the stored bytes of an attribute of a row; `nil` if there are none or the store does not store bytes. By
    /// default `nil`.
    func storedData(of attribute: NSAttributeDescription, _ id: NSManagedObjectID) throws -> Data?

    /// A number that grows with each row written through this store, to invalidate rows read earlier; `nil` if the
    /// store does not count.
    var ownChangeCount: Int64? { get }

    /// A text that differs after each commit of any process, also across launches, to validate caches.
    func changeToken() throws -> String

    /// The number of the last transaction in the store's history; `nil` if it has no history.
    func lastHistoryNumber() throws -> Int64?

    /// The number of the last transaction that this store wrote since it was opened; `nil` if the history has none.
    var lastOwnHistoryNumber: Int64? { get }

    /// The transactions after `number`, oldest first. Removed transactions are missing: see
    /// ``lastRemovedHistoryNumber()``.
    func history(after number: Int64) throws -> [StoreTransaction]

    /// The result of ``history(after:)``, with the changes only if they are wanted.
    func history(after number: Int64, withChanges: Bool) throws -> [StoreTransaction]

    /// The number of the last transaction removed from the history, 0 if none was. A reader that is behind that number
    /// cannot learn from the history what happened since.
    func lastRemovedHistoryNumber() throws -> Int64

    /// The transactions after `number`, with the numbers that show if any are missing. For following a history.
    func historyNews(after number: Int64) throws -> HistoryNews

    /// Calls `wake` on `queue` soon after another connection committed, once for each ``dataVersion()``. A store that
    /// gets no notifications never calls it, which is the default; such a store is polled.
    func wake(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void)

    /// Calls `tell` once on `queue` when the store's files change. Returns the watch, or `nil`, the default, if the
    /// store has no files to watch.
    func watchFiles(on queue: DispatchQueue, _ tell: @escaping @Sendable () -> Void) -> AnyObject?

    /// The lowest number of a transaction that was committed after `date`; `nil` if none was.
    func firstHistoryNumber(after date: Date) throws -> Int64?

    /// Removes the transactions with numbers less than `number` and their changes, in one transaction.
    ///
    /// - Returns: the number of removed transactions.
    /// - Throws: 134091 if the store cannot remove history; otherwise a `CocoaError` of the store.
    func deleteHistory(before number: Int64) throws -> Int

    /// Closes files and connections. No member is called afterwards.
    func close() throws
}

/// The transactions of a history after a given one, for a reader that follows it.
package struct HistoryNews {
    /// Oldest first.
    package var transactions: [StoreTransaction]
    /// The number of the last removed transaction; 0 if none was removed.
    package var lastRemoved: Int64
    /// The number of the last transaction, read after the other properties; `nil` if the store has no history.
    package var newest: Int64?

    package init(transactions: [StoreTransaction], lastRemoved: Int64, newest: Int64? = nil) {
        self.transactions = transactions
        self.lastRemoved = lastRemoved
        self.newest = newest
    }
}

/// A number of consecutive new objects of one entity.
package struct EntityRun {
    package let entity: NSEntityDescription
    package var count: Int
}

extension StoreOperations {
    package var readsRowByRow: Bool { false }

    package var answersFromIndexes: Bool { false }

    var isAway: Bool { false }

    var rowsOfQuestion: Int { 0 }

    func checkFile() throws {}

    package var fileURL: URL? { (self as? NSPersistentStore)?.url }

    package func copyOpenContents(to destination: URL) throws {
        throw CoreDataError.make(
            134060, "Cannot copy to \(destination.path): only SQLite stores are copied while open.")
    }

    package var readingNotes: [ReadingNote] { [] }

    package var unreadable: UnreadableProperties { UnreadableProperties() }

    package func storedData(of attribute: NSAttributeDescription, _ id: NSManagedObjectID) throws -> Data? { nil }

    package var ownChangeCount: Int64? { nil }

    func history(after number: Int64, withChanges: Bool) throws -> [StoreTransaction] { try history(after: number) }

    func historyNews(after number: Int64) throws -> HistoryNews {
        HistoryNews(
            transactions: try history(after: number), lastRemoved: try lastRemovedHistoryNumber(),
            newest: try lastHistoryNumber())
    }

    var lastOwnHistoryNumber: Int64? { nil }

    func wake(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) {}

    package func watchFiles(on queue: DispatchQueue, _ tell: @escaping @Sendable () -> Void) -> AnyObject? { nil }

    func lastRemovedHistoryNumber() throws -> Int64 {
        if let first = try history(after: 0, withChanges: false).first { return first.number - 1 }
        return try lastHistoryNumber() ?? 0
    }

    func firstHistoryNumber(after date: Date) throws -> Int64? {
        try history(after: 0, withChanges: false).first { $0.timestamp > date }?.number
    }

    func deleteHistory(before number: Int64) throws -> Int {
        throw CoreDataError.make(134091, "The store cannot remove transactions from its history.")
    }

    package func idFamily(ofEntityAt index: UInt32) -> IDFamily {
        objectID(for: RowKey(entity: index, reference: 0)).family
    }

    package func obtainPermanentIDs(for entities: [NSEntityDescription]) throws -> [NSManagedObjectID] {
        try obtainPermanentIDs(for: entities.map { EntityRun(entity: $0, count: 1) })
    }

    package func obtainPermanentIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]? { nil }

    func takeDerivedRows() -> [NSManagedObjectID: RowSnapshot] { [:] }

    func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]? { nil }

    package func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> DestinationRows? { nil }
}

/// The destinations of a relationship of several owners, with the rows read along.
package struct DestinationRows {
    /// The keys, grouped by owner.
    var keys: [RowKey] = []
    /// The rows of the first keys.
    var rows: RowList = []
    /// The range of the keys of each owner, in the order of the owners in the request.
    var ranges: [Range<Int>] = []
}

/// A fetch as a query to a store, without objects of the context.
package struct StoreQuery {
    var entity: NSEntityDescription
    var includesSubentities = true
    /// May contain managed objects and object IDs as constants. Variables are already substituted.
    var predicate: PredicateTree?
    var sortKeys: [StoreSortKey] = []
    /// The maximum number of rows; 0 means no limit.
    var limit = 0
    var offset = 0
    /// True if the rows are wanted, false if only their keys are.
    package var wantsRows = true
    /// The key path of an attribute whose values are wanted with the keys, without rows: ``StoreQueryResult/groups``.
    package var groupedBy: [String]?
    /// The key paths of attributes whose values are wanted with the keys; see ``StoreQueryResult/extraValues``.
    var extraPaths: [[String]] = []
    /// If set, the store answers only if it can read the keys in order from an index that covers this number of
    /// conditions. Otherwise it reports the sort as unsupported and reads nothing. Used only if `answersFromIndexes`.
    var indexedTerms: Int?
    /// True if transformable values that cannot be decoded here are read as ``UncodedValue``; otherwise they are null.
    package var keepsUncoded = false
}

/// The result of a query to a store.
package struct StoreQueryResult {
    package var keys: [RowKey]
    /// The rows in the order of `keys`; empty if rows were not requested.
    package var rows: RowList
    /// The parts that the caller has to do in memory; empty if the result is exact.
    var unsupported: Unsupported
    /// The runs of equal values of `groupedBy` in the order of the rows, with their lengths. `nil` if not requested, or
    /// if the store cannot find them.
    package var groups: [RowGroup]?
    /// The value of each row for each of the query's `extraPaths`. `nil` if not requested, or if the store cannot read
    /// them.
    package var extraValues: [[SlotValue]]?

    package init(
        keys: [RowKey], rows: RowList, unsupported: Unsupported, groups: [RowGroup]? = nil,
        extraValues: [[SlotValue]]? = nil
    ) {
        self.keys = keys
        self.rows = rows
        self.unsupported = unsupported
        self.groups = groups
        self.extraValues = extraValues
    }

    package struct Unsupported: OptionSet {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        static let predicate = Unsupported(rawValue: 1)
        static let sort = Unsupported(rawValue: 2)
    }
}

/// Consecutive rows with the same value in one attribute.
package struct RowGroup {
    let value: SlotValue
    let count: Int

    package init(value: SlotValue, count: Int) {
        self.value = value
        self.count = count
    }
}

/// Everything that one save writes to one store.
package struct StoreChangeSet {
    /// New rows with all values. The version is 1, or follows the last one of a row that was deleted before.
    package var inserted: [IdentifiedRow] = []
    /// Positions of new rows in ordered lists; see ``StoreRowChange/orderedPositions``.
    package var insertedPositions: [NSManagedObjectID: [Int: Int]] = [:]
    package var updated: [StoreRowChange] = []
    package var deleted: [StoreRowChange] = []
    /// The changes of many-to-many and one-way to-many relationships; the others are foreign keys of rows.
    package var toMany: [StoreToManyChange] = []
    /// Rows that are not written but must not have changed (`detectConflicts(for:)`).
    package var locked: [StoreRowChange] = []
    /// The objects of the rows, for stores that want them (``NSPersistentStore/wantsObjects``).
    var objects: [NSManagedObject] = []
    /// The author of the change and the name of its context, for the history.
    package var author: String?
    package var contextName: String?
    /// Receives the store's progress, if the store reports it; usually `nil`.
    var reporter: SaveReporter?

    /// An empty change set for other modules.
    package static var empty: StoreChangeSet { StoreChangeSet() }

    package var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && toMany.isEmpty && locked.isEmpty
    }
}

/// A change of one existing row. A class, because it is passed on often and a struct's parts would all be retained each
/// time.
package final class StoreRowChange {
    /// Permanent.
    package let id: NSManagedObjectID
    /// All values of the row after the save, with permanent references in to-one slots. `nil` for a delete.
    package let row: RowSnapshot?
    /// The slots that differ from the base row. `changedToMany` has the object's changed to-many relationships, by
    /// their number in the layout, for the history.
    package let changedSlots: [Int]
    package let changedToMany: [Int]
    /// The version on which the change is based. It grows by one.
    package let baseVersion: Int64
    /// Positions of this row in ordered to-many relationships whose foreign key it has: slot of the to-one → index in
    /// the list. A changed list has the positions of all its members; a row without a position is put last.
    package let orderedPositions: [Int: Int]

    init(
        id: NSManagedObjectID, row: RowSnapshot?, changedSlots: [Int], changedToMany: [Int] = [], baseVersion: Int64,
        orderedPositions: [Int: Int] = [:]
    ) {
        self.id = id
        self.row = row
        self.changedSlots = changedSlots
        self.changedToMany = changedToMany
        self.baseVersion = baseVersion
        self.orderedPositions = orderedPositions
    }
}

/// One object's change of a to-many relationship in a join table (or a one-way column).
package struct StoreToManyChange {
    package let relationship: NSRelationshipDescription
    package let owner: NSManagedObjectID
    package var added: [NSManagedObjectID]
    package var removed: [NSManagedObjectID]
    /// All destinations in order, if the relationship is ordered.
    package var order: [NSManagedObjectID]?
}

/// Rows that another context or process changed or deleted since they were read.
package struct StoreConflicts: Error {
    /// The row's current state; `nil` if it was deleted.
    var rows: [(id: NSManagedObjectID, current: RowSnapshot?)]

    package init(rows: [(id: NSManagedObjectID, current: RowSnapshot?)]) { self.rows = rows }
}

/// One transaction of the store's history.
package struct StoreTransaction {
    package enum Kind: Int, Sendable {
        case insert = 0
        case update = 1
        case delete = 2
    }

    package struct Change {
        /// The change's own number in the history.
        let number: Int64
        let key: RowKey
        let kind: Kind
        /// The names of the changed properties, for updates only, as far as the store knows them.
        let changedProperties: [String]
        /// Values of a deleted row that the model preserves, by property name.
        let tombstone: [String: SlotValue]

        package init(
            number: Int64, key: RowKey, kind: Kind, changedProperties: [String], tombstone: [String: SlotValue]
        ) {
            self.number = number
            self.key = key
            self.kind = kind
            self.changedProperties = changedProperties
            self.tombstone = tombstone
        }
    }

    package let number: Int64
    let timestamp: Date
    let author: String?
    let contextName: String?
    let bundleID: String?
    let processID: String?
    /// True if this store object wrote the transaction since it was opened. The context that wrote it has announced it.
    let isOwn: Bool
    let changes: [Change]
    /// The user and the address of the session, as a server knows them.
    var role: String?
    var host: String?

    package init(
        number: Int64, timestamp: Date, author: String? = nil, contextName: String? = nil, bundleID: String? = nil,
        processID: String? = nil, isOwn: Bool, changes: [Change], role: String? = nil, host: String? = nil
    ) {
        self.number = number
        self.timestamp = timestamp
        self.author = author
        self.contextName = contextName
        self.bundleID = bundleID
        self.processID = processID
        self.isOwn = isOwn
        self.changes = changes
        self.role = role
        self.host = host
    }
}
