import Foundation
import PredicateSyntax
import Synchronization

@testable import CoreData

/// A store in memory that evaluates no part of a query itself, so the framework must filter, sort and limit. It counts
/// its requests. Stores with the same URL share their rows, like files.
final class MemoryStore: NSPersistentStore, RowStore, @unchecked Sendable {
    static let storeType = "MemoryStoreOfTests"
    private(set) var database: MemoryDatabase!
    private lazy var answers = MemoryOperations(self)

    override var type: String { Self.storeType }
    var operations: any StoreOperations { answers }
    var asked: MemoryOperations { answers }

    override func loadMetadata() throws {
        let database = MemoryDatabase.at(url!)
        self.database = database
        identifier = database.identifier
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: database.identifier]
    }

    static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(MemoryStore.self, forStoreType: storeType)
    }
}

/// The rows shared by stores with one URL.
final class MemoryDatabase: @unchecked Sendable {
    private static let all = Mutex<[URL: MemoryDatabase]>([:])

    static func at(_ url: URL) -> MemoryDatabase {
        all.withLock { all in
            if let known = all[url] { return known }
            let made = MemoryDatabase()
            all[url] = made
            return made
        }
    }

    let identifier = UUID().uuidString
    let lock = NSLock()
    var rows: [RowKey: RowSnapshot] = [:]
    /// Many-to-many contents by the end that writes them: relationship → owner → members.
    var members: [String: [RowKey: [RowKey]]] = [:]
    /// Positions in ordered lists, by the member and its slot that refers to the owner.
    var positions: [RowKey: [Int: Int]] = [:]
    var lastReference: Int64 = 0
    var transactions: [(writer: ObjectIdentifier, transaction: StoreTransaction)] = []
}

final class MemoryOperations: StoreOperations {
    private unowned let store: MemoryStore
    private(set) var fetches = 0
    private(set) var counts = 0
    /// Number of rows requested in each call of `rows(for:)`.
    private(set) var rowRequests: [Int] = []
    /// Number of rows returned by each call of `destinationRows`.
    private(set) var rowsWithLists: [Int] = []
    /// Errors of reading rows and contents, and of saving, while set.
    var readFailure: (any Error)?
    var saveFailure: (any Error)?
    /// True to answer simple counts.
    var countsExactly = true

    init(_ store: MemoryStore) { self.store = store }

    func forget() {
        fetches = 0
        counts = 0
        rowRequests = []
        rowsWithLists = []
    }

    private var database: MemoryDatabase { store.database }
    private var entities: [NSEntityDescription] {
        store.persistentStoreCoordinator?.managedObjectModel.entitiesInLayoutOrder ?? []
    }

    func fetch(_ query: StoreQuery) throws -> StoreQueryResult {
        fetches += 1
        let family = Set((query.includesSubentities ? query.entity.family : [query.entity]).map(\.layout.index))
        var keys = database.lock.withLock { Array(database.rows.keys) }
        keys = keys.filter { family.contains(Int($0.entity)) }.sorted { $0.reference < $1.reference }
        var unsupported: StoreQueryResult.Unsupported = []
        if query.predicate != nil { unsupported.insert(.predicate) }
        if !query.sortKeys.isEmpty { unsupported.insert(.sort) }
        if unsupported.isEmpty {
            keys = Array(keys.dropFirst(query.offset))
            if query.limit > 0 { keys = Array(keys.prefix(query.limit)) }
        }
        let rows = query.wantsRows ? database.lock.withLock { keys.map { database.rows[$0]! } } : []
        return StoreQueryResult(keys: keys, rows: RowList(rows), unsupported: unsupported)
    }

    func count(_ query: StoreQuery) throws -> Int? {
        guard countsExactly, query.predicate == nil else { return nil }
        counts += 1
        var all = query
        all.sortKeys = []
        fetches -= 1
        return try fetch(all).keys.count
    }

    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        rowRequests.append(ids.count)
        if let readFailure { throw readFailure }
        return database.lock.withLock { ids.map { id in id.rowKey.flatMap { database.rows[$0] } } }
    }

    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        if let readFailure { throw readFailure }
        let inverse = relationship.inverseRelationship!
        let rows = database.lock.withLock { database.rows }
        return ids.map { id in
            if inverse.isToMany {
                return database.lock.withLock { paired(relationship, inverse, id.rowKey!) }.map(objectID(for:))
            }
            let positions = database.lock.withLock { database.positions }
            let members = rows.compactMap { key, row -> (place: Int, key: RowKey)? in
                let layout = entities[Int(key.entity)].layout
                guard case .toOne(let slot) = layout.place(of: inverse.name),
                    layout.entity.isKindOf(entity: relationship.destinationEntity!), row.values[slot] == .reference(id)
                else { return nil }
                return (relationship.isOrdered ? positions[key]?[slot] ?? 0 : 0, key)
            }
            return members.sorted { ($0.place, $0.key.reference) < ($1.place, $1.key.reference) }
                .map { objectID(for: $0.key) }
        }
    }

    func destinationRows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> DestinationRows? {
        let found = try destinations(of: relationship, inOrderOf: owners)
        let rows = database.lock.withLock { database.rows }
        var read = DestinationRows()
        for ids in found {
            read.ranges.append(read.keys.count..<read.keys.count + ids.count)
            read.keys += ids.map { $0.rowKey! }
        }
        read.rows += read.keys.prefix(limit).map { rows[$0] }.prefix { $0 != nil }.compactMap(\.self)
        if read.keys.count > most { return nil }
        rowsWithLists.append(read.rows.count)
        return read
    }

    /// Call with the lock held.
    private func paired(
        _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription, _ owner: RowKey
    ) -> [RowKey] {
        if relationship.writesPairs { return database.members[Self.name(of: relationship)]?[owner] ?? [] }
        let pairs = database.members[Self.name(of: inverse)] ?? [:]
        return pairs.filter { $0.value.contains(owner) }.keys.sorted { $0.reference < $1.reference }
    }

    private static func name(of relationship: NSRelationshipDescription) -> String {
        "\(relationship.entity.name ?? "").\(relationship.name)"
    }

    func obtainPermanentIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        database.lock.withLock {
            runs.flatMap { repeatElement($0.entity, count: $0.count) }.map { entity in
                database.lastReference += 1
                return NSManagedObjectID(entity: entity, reference: database.lastReference, store: store)
            }
        }
    }

    /// Number of saves by this store, without those of others on the same rows.
    private(set) var ownChangeCount: Int64? = 0

    func save(_ changes: StoreChangeSet) throws {
        if let saveFailure { throw saveFailure }
        ownChangeCount? += 1
        try database.lock.withLock {
            let conflicts = (changes.updated + changes.deleted + changes.locked).filter { change in
                database.rows[change.id.rowKey!]?.version != change.baseVersion
            }
            guard conflicts.isEmpty else {
                throw StoreConflicts(rows: conflicts.map { ($0.id, database.rows[$0.id.rowKey!]) })
            }
            var noted: [StoreTransaction.Change] = []
            func note(_ id: NSManagedObjectID, _ kind: StoreTransaction.Kind, slots: [Int] = []) {
                noted.append(
                    StoreTransaction.Change(
                        number: Int64(noted.count + 1), key: id.rowKey!, kind: kind,
                        changedProperties: slots.map { id.entity.layout.slots[$0].name }, tombstone: [:]))
            }
            func write(_ id: NSManagedObjectID, _ row: RowSnapshot?, _ positions: [Int: Int]) {
                database.rows[id.rowKey!] = row
                for (slot, place) in positions { database.positions[id.rowKey!, default: [:]][slot] = place }
            }
            for new in changes.inserted { note(new.id, .insert) }
            for change in changes.updated { note(change.id, .update, slots: change.changedSlots) }
            for new in changes.inserted { write(new.id, new.row, changes.insertedPositions[new.id] ?? [:]) }
            for change in changes.updated { write(change.id, change.row, change.orderedPositions) }
            for change in changes.deleted {
                database.rows[change.id.rowKey!] = nil
                database.positions[change.id.rowKey!] = nil
                for name in database.members.keys { database.members[name]?[change.id.rowKey!] = nil }
                for (name, owners) in database.members {
                    database.members[name] = owners.mapValues { $0.filter { $0 != change.id.rowKey } }
                }
                note(change.id, .delete)
            }
            for change in changes.toMany {
                let name = Self.name(of: change.relationship)
                var list = database.members[name, default: [:]][change.owner.rowKey!] ?? []
                list.removeAll { key in change.removed.contains { $0.rowKey == key } }
                list += change.added.compactMap(\.rowKey)
                database.members[name, default: [:]][change.owner.rowKey!] = list
            }
            let transaction = StoreTransaction(
                number: Int64(database.transactions.count + 1), timestamp: Date(), author: changes.author,
                contextName: changes.contextName, bundleID: nil, processID: nil, isOwn: true, changes: noted)
            database.transactions.append((ObjectIdentifier(self), transaction))
        }
    }

    func objectID(for key: RowKey) -> NSManagedObjectID {
        NSManagedObjectID(entity: entities[Int(key.entity)], reference: key.reference, store: store)
    }

    func dataVersion() throws -> Int64 {
        database.lock.withLock { Int64(database.transactions.count { $0.writer != ObjectIdentifier(self) }) }
    }

    func changeToken() throws -> String { database.lock.withLock { "\(database.transactions.count)" } }

    func lastHistoryNumber() throws -> Int64? {
        guard StoreOptions(store.options).tracksHistory ?? true else { return nil }
        return database.lock.withLock { Int64(database.transactions.count) }
    }

    func history(after number: Int64) throws -> [StoreTransaction] {
        database.lock.withLock {
            database.transactions.dropFirst(Int(number)).map { writer, made in
                StoreTransaction(
                    number: made.number, timestamp: made.timestamp, author: made.author,
                    contextName: made.contextName, bundleID: nil, processID: nil,
                    isOwn: writer == ObjectIdentifier(self), changes: made.changes)
            }
        }
    }

    func close() throws {}
}
