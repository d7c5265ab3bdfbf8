import Foundation
import PredicateSyntax

/// All that contexts and the coordinator know of a store.
///
/// Every member but ``objectID(for:)`` and those that any thread may ask, ``readsRowByRow``, ``answersFromIndexes`` and
/// ``rowsOfQuestion``, is called under the coordinator's lock, one at a time, from any thread. Errors are `CocoaError`s, made by ``CoreDataError``, with the store's
/// own error beneath.
package protocol StoreOperations: RowsByID, AnyObject {
    /// The keys of the rows that match, in order, and on request the rows themselves. One query, whatever the count.
    ///
    /// A part of the query that the store cannot do exactly is left out and named in the result's `unsupported`; then limit
    /// and offset are left out too, and the caller filters, sorts and cuts in memory.
    func fetch(_ query: StoreQuery) throws -> StoreQueryResult

    /// True if each row costs a query of its own. A list is then read when its objects are accessed.
    var readsRowByRow: Bool { get }

    /// True if the store knows which queries an index answers: see ``StoreQuery/indexedTerms``.
    var answersFromIndexes: Bool { get }

    /// True while the store has no connection and cannot be read. Sends nothing to a server.
    var isAway: Bool { get }

    /// The number of rows whose reading by ID takes about as long as a query, if queries are known to be slow; otherwise 0.
    var rowsOfQuestion: Int { get }

    /// The number of rows that match, limit and offset applied, or `nil` where the store cannot do it exactly.
    func count(_ query: StoreQuery) throws -> Int?

    /// The values of the columns of each group, in order, limit and offset applied; `nil` where the store cannot do it
    /// exactly, which is what stores say that do not implement it. An object is a `reference`.
    func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]?

    /// What ``destinations(of:inOrderOf:)`` finds, with the first `limit` rows, all in one query; `nil` where the store
    /// reads rows only by their IDs, and as soon as there are more than `most`.
    func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> DestinationRows?

    /// Reserves a permanent ID for each new object of `runs`, in the same order.
    func obtainPermanentIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID]

    /// The same for stores whose IDs depend on the objects; `nil` where they do not.
    func obtainPermanentIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]?

    /// Writes all changes as one transaction, or none of them; and the store's `metadata` with them where these changed.
    ///
    /// - Throws: ``StoreConflicts`` when a row changed since its base version; a `CocoaError` otherwise.
    func save(_ changes: StoreChangeSet) throws

    /// The rows that the store itself changed in the last save beside what it was told: those whose values it derived, and
    /// others. Asked once after each save; by default there are none.
    func takeDerivedRows() -> [NSManagedObjectID: RowSnapshot]

    /// The ID of the row under `key`: the same row always gives an equal ID. Called on any thread, at any time, after the
    /// store was closed too.
    func objectID(for key: RowKey) -> NSManagedObjectID

    /// The shared part of the IDs of the entity with that index. Called as ``objectID(for:)`` is.
    func idFamily(ofEntityAt index: UInt32) -> IDFamily

    /// Makes sure that the file at the store's URL is the one that is open. A few microseconds; for polling. By default nothing.
    ///
    /// - Throws: 134030 where it was moved, deleted, replaced or written over by other programs; 260 of a store that is only
    ///   read; 134100 of a store on a server whose tables were found to be migrated or removed.
    func checkFile() throws

    /// The file's current URL, even if it was moved since it was opened; `nil` if it was deleted. By default the URL.
    var fileURL: URL? { get }

    /// Copies the store as it is open, wherever its file is, to a URL where no file exists.
    ///
    /// - Throws: 134060 for stores that are not kept in files, which is the default.
    func copyOpenContents(to destination: URL) throws

    /// A number that grows whenever another connection commits. A few microseconds; for polling.
    func dataVersion() throws -> Int64

    /// The properties with values that could not be decoded and were read as nil, one line each. By default none.
    var readingNotes: [ReadingNote] { get }

    /// The properties of which the store does not have what its model says. By default none.
    var unreadable: UnreadableProperties { get }

    /// The bytes that the store keeps for an attribute of a row; `nil` where it keeps none, or values of another kind, as it is by
    /// default.
    func storedData(of attribute: NSAttributeDescription, _ id: NSManagedObjectID) throws -> Data?

    /// A number that grows with every row that is written through this store; `nil` where it is not told. For dropping what
    /// was read before.
    var ownChangeCount: Int64? { get }

    /// A text that differs after every commit of any process, also across processes and launches: for validating
    /// caches.
    func changeToken() throws -> String

    /// The number of the last transaction in the store's history, or `nil` when it keeps none.
    func lastHistoryNumber() throws -> Int64?

    /// The number of the last transaction that this store wrote since it was opened; `nil` if there is none in the history.
    var lastOwnHistoryNumber: Int64? { get }

    /// The transactions after `number`, oldest first. What was removed from the history is not there:
    /// see ``lastRemovedHistoryNumber()``.
    func history(after number: Int64) throws -> [StoreTransaction]

    /// The result of ``history(after:)``, with the changes only if they are wanted.
    func history(after number: Int64, withChanges: Bool) throws -> [StoreTransaction]

    /// The number of the last transaction that was removed from the history; 0 where none was. Who has seen less than
    /// that cannot learn from the history what happened since.
    func lastRemovedHistoryNumber() throws -> Int64

    /// The transactions after `number`, and what tells whether these are all: together, for those that follow a history.
    func historyNews(after number: Int64) throws -> HistoryNews

    /// Has `wake` called on `queue` soon after another connection has committed, once for each ``dataVersion()``. A store
    /// that is not told by others never calls it, as is so by default: it is asked from time to time anyway.
    func wake(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void)

    /// What tells, once and on `queue`, that something happened to the store's files; `nil`, as is so by default, where the
    /// store has none that can be watched.
    func watchFiles(on queue: DispatchQueue, _ tell: @escaping @Sendable () -> Void) -> AnyObject?

    /// The lowest number of a transaction that was committed after `date`; `nil` if none was.
    func firstHistoryNumber(after date: Date) throws -> Int64?

    /// Removes the transactions whose number is less than `number`, with their changes, in one transaction.
    ///
    /// - Returns: How many transactions were removed.
    /// - Throws: 134091 where the store cannot remove history; a `CocoaError` of the store otherwise.
    func deleteHistory(before number: Int64) throws -> Int

    /// Closes files and connections; nothing is called afterwards.
    func close() throws
}

/// The news of a history after a transaction.
package struct HistoryNews {
    /// Oldest first.
    package var transactions: [StoreTransaction]
    /// The number of the last transaction that was removed; 0 where none was.
    package var lastRemoved: Int64
    /// The number of the last transaction, asked for behind the others; `nil` where the store keeps no history.
    package var newest: Int64?

    package init(transactions: [StoreTransaction], lastRemoved: Int64, newest: Int64? = nil) {
        self.transactions = transactions
        self.lastRemoved = lastRemoved
        self.newest = newest
    }
}

/// So many new objects of one entity, one after the other.
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

/// The destinations of a relationship of several owners, with the rows that were read along.
package struct DestinationRows {
    /// One owner's after the other's.
    var keys: [RowKey] = []
    /// The rows of the first of them.
    var rows: RowList = []
    /// The range of the keys of each owner, in the order of the owners in the request.
    var ranges: [Range<Int>] = []
}

/// A fetch as a query to a store, without objects of the context.
package struct StoreQuery {
    var entity: NSEntityDescription
    var includesSubentities = true
    /// Constants may be managed objects and object IDs; variables are already substituted.
    var predicate: PredicateTree?
    var sortKeys: [StoreSortKey] = []
    /// 0 means no limit.
    var limit = 0
    var offset = 0
    /// True if the rows are wanted, false if only their keys are.
    package var wantsRows = true
    /// The key path of an attribute whose values are wanted with the keys, where rows are not; see ``StoreQueryResult/groups``.
    package var groupedBy: [String]?
    /// The key paths of attributes whose values are wanted with the keys; see ``StoreQueryResult/extraValues``.
    var extraPaths: [[String]] = []
    /// Given where the store is to answer only if it reads the keys in order from an index that answers so many conditions:
    /// else the sort is unsupported, and nothing is read. Asked of stores that answer from indexes.
    var indexedTerms: Int?
    /// True if transformable values that cannot be decoded here are read as ``UncodedValue``; otherwise they are null.
    package var keepsUncoded = false
}

/// The result of a query to a store.
package struct StoreQueryResult {
    package var keys: [RowKey]
    /// As many as `keys` and in the same order, or empty when rows were not asked for.
    package var rows: RowList
    /// The parts that the caller has to do in memory; empty if the result is exact.
    var unsupported: Unsupported
    /// The runs of equal values in the order: each value of `groupedBy`, and how many of the rows from there on have
    /// it. `nil` where it was not asked for, or the store cannot tell.
    package var groups: [RowGroup]?
    /// For each of the query's `extraPaths`, the value of each row. `nil` where they were not asked for, or the store
    /// cannot tell.
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
    /// New rows, whole. The version is 1, or goes on from the last one of a row that was deleted before.
    package var inserted: [IdentifiedRow] = []
    /// Positions of new rows in ordered lists; see ``StoreRowChange/orderedPositions``.
    package var insertedPositions: [NSManagedObjectID: [Int: Int]] = [:]
    package var updated: [StoreRowChange] = []
    package var deleted: [StoreRowChange] = []
    /// The changes of many-to-many and one-way to-many relationships; the others are foreign keys of rows.
    package var toMany: [StoreToManyChange] = []
    /// Rows that must not have changed though they are not written (`detectConflicts(for:)`).
    package var locked: [StoreRowChange] = []
    /// The objects of the rows, for stores that want them (``NSPersistentStore/wantsObjects``).
    var objects: [NSManagedObject] = []
    /// For the history: who made the change and in which context.
    package var author: String?
    package var contextName: String?
    /// Receives the store's progress, if the store reports it; usually `nil`.
    var reporter: SaveReporter?

    /// For other modules.
    package static var empty: StoreChangeSet { StoreChangeSet() }

    package var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && toMany.isEmpty && locked.isEmpty
    }
}

/// A change of one row that is there already. An object, because it is handed on many times, and all of its parts would
/// have to be retained each time.
package final class StoreRowChange {
    /// Permanent.
    package let id: NSManagedObjectID
    /// The whole row as it shall be; to-one values are permanent references. `nil` for a delete.
    package let row: RowSnapshot?
    /// The slots that differ from the base row. To-many changes of the object, for the history, stand in `changedToMany` by
    /// their number in the layout.
    package let changedSlots: [Int]
    package let changedToMany: [Int]
    /// The version on which the change is based. The row is written with one more.
    package let baseVersion: Int64
    /// Positions of this row in ordered to-many relationships whose foreign key it holds: slot of the to-one → index in the
    /// list. A change of a list tells those of all its members; a row without one goes to the end.
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

/// One object's change of a to-many relationship that is kept in a join table (or as a one-way column).
package struct StoreToManyChange {
    package let relationship: NSRelationshipDescription
    package let owner: NSManagedObjectID
    package var added: [NSManagedObjectID]
    package var removed: [NSManagedObjectID]
    /// The whole list in order, when the relationship is ordered.
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
        /// The names of the properties that changed; for updates only, and only as far as the store knows.
        let changedProperties: [String]
        /// The values that the model preserves of a deleted row, by property name.
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
    /// True if this store object wrote it since it was opened. The context that wrote it has announced it.
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
