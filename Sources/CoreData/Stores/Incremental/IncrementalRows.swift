import Foundation
import PredicateSyntax

/// The operations that contexts use, implemented by calls of an incremental store's class.
///
/// The store's results are trusted for predicates, orders and limits. Only for the framework's own queries ("which of
/// these rows match?") the rows are read and compared in memory.
final class IncrementalRows: StoreOperations {
    private unowned let store: NSIncrementalStore
    private var versions = RowVersions()
    private var saves: Int64 = 0
    /// The context passed to the store's class during a call.
    private var lent: NSManagedObjectContext?

    /// The shared part of each entity's IDs, by the entity number of ``RowKey``. Set once, before the store is used.
    private var families: [IDFamily] = []

    init(_ store: NSIncrementalStore) { self.store = store }

    func prepare(for model: NSManagedObjectModel) { families = model.entitiesInLayoutOrder.map(store.idFamily) }

    /// Runs `body` on the queue of a context that the store's class may use.
    private func lending<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        if let lent { return try body(lent) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.persistentStoreCoordinator
        context.registry.tellsStores = false
        lent = context
        defer { lent = nil }
        return try context.performAndWait(.beneath) { try body(context) }
    }

    private func failure(_ text: String) -> NSError {
        CoreDataError.make(134030, "The store \(store.url?.absoluteString ?? "") of type \(store.type) \(text).")
    }

    // MARK: Fetching

    var readsRowByRow: Bool { true }

    func fetch(_ query: StoreQuery) throws -> StoreQueryResult {
        if let ids = query.predicate.flatMap(Self.namedIDs) { return try compare(ids, query) }
        // The caller applies comparators, which only the sort descriptor has.
        if query.sortKeys.contains(where: { $0.comparison == .custom }) {
            var all = query
            (all.sortKeys, all.limit, all.offset) = ([], 0, 0)
            var result = try fetch(all)
            result.unsupported = .sort
            return result
        }
        let found = try lending { context in
            try self.ids(of: try store.execute(request(query, .managedObjectResultType), with: context))
        }
        var rows: RowList = []
        var keys = try found.map(key)
        if query.wantsRows {
            let read = try self.rows(inOrderOf: found)
            keys = zip(keys, read).compactMap { $1 == nil ? nil : $0 }
            rows = RowList(read.compactMap { $0 })
        }
        return StoreQueryResult(keys: keys, rows: rows, unsupported: [])
    }

    func count(_ query: StoreQuery) throws -> Int? {
        if query.predicate.flatMap(Self.namedIDs) != nil { return nil }
        let answer = try lending { try store.execute(request(query, .countResultType), with: $0) }
        if let number = answer as? NSNumber { return number.intValue }
        guard let list = answer as? [Any], list.count == 1 else { return nil }
        return (list[0] as? NSNumber)?.intValue
    }

    private func request(
        _ query: StoreQuery, _ type: NSFetchRequestResultType
    ) -> NSFetchRequest<NSFetchRequestResult> {
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.entity = query.entity
        request.includesSubentities = query.includesSubentities
        request.predicate = query.predicate.map(NSPredicate.make)
        request.sortDescriptors =
            query.sortKeys.isEmpty
            ? nil
            : query.sortKeys.map { key in
                NSSortDescriptor(
                    key: key.keyPath.joined(separator: "."), ascending: key.ascending,
                    selector: SortSelector(comparison: key.comparison))
            }
        request.fetchLimit = query.limit
        request.fetchOffset = query.offset
        request.resultType = type
        request.affectedStores = [store]
        return request
    }

    private func ids(of answer: Any) throws -> [NSManagedObjectID] {
        guard let list = answer as? [Any] else {
            throw failure("returned \(type(of: answer)) from a fetch, not an array")
        }
        return try list.map { item in
            switch item {
            case let object as NSManagedObject: return object.objectID
            case let id as NSManagedObjectID: return id
            default: throw failure("returned \(type(of: item)) from a fetch, not objects or IDs")
            }
        }
    }

    private func key(_ id: NSManagedObjectID) throws -> RowKey {
        guard !id.isTemporaryID, let key = id.rowKey, id.storeIdentifier == store.identifier else {
            throw failure("returned '\(id)' from a fetch, which is not one of its IDs")
        }
        return key
    }

    /// The IDs in a predicate of a query by the framework itself.
    private static func namedIDs(_ predicate: PredicateTree) -> [NSManagedObjectID]? {
        switch predicate {
        case .comparison(let comparison):
            guard case .evaluatedObject = comparison.left, case .constant(let value) = comparison.right else {
                return nil
            }
            switch comparison.comparison {
            case .in: return (value as? [NSManagedObjectID]) ?? (value as? Set<NSManagedObjectID>).map { Array($0) }
            default: return nil
            }
        case .and(let parts): return parts.lazy.compactMap(namedIDs).first
        default: return nil
        }
    }

    private func compare(_ ids: [NSManagedObjectID], _ query: StoreQuery) throws -> StoreQueryResult {
        let own = ids.filter { id in
            id.storeIdentifier == store.identifier
                && (query.includesSubentities
                    ? id.entity.isKindOf(entity: query.entity) : id.entity.name == query.entity.name)
        }
        let rows = try self.rows(inOrderOf: own)
        let found = zip(own, rows).compactMap { id, row in row.map { (id, $0) } }
        return StoreQueryResult(
            keys: try found.map { try key($0.0) }, rows: RowList(found.map(\.1)), unsupported: [.predicate, .sort])
    }

    // MARK: Rows

    /// Omits rows that are gone. Any other error of reading fails the whole call: an omitted row would count as deleted.
    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        try lending { context in try ids.map { id in try unlessGone { try row(id, context) } } }
    }

    /// The result of `read`; `nil` if the row is gone.
    private func unlessGone<Result>(_ read: () throws -> Result) throws -> Result? {
        do { return try read() } catch {
            guard Self.saysGone(error) else { throw error }
            return nil
        }
    }

    private static func saysGone(_ error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError
    }

    private func row(_ id: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> RowSnapshot {
        let node = try store.newValuesForObject(with: id, with: context)
        let values = try id.entity.layout.slots.map { property -> SlotValue in
            if property.isTransient { return .null }
            let value = node.value(for: property)
            guard let attribute = property as? NSAttributeDescription else {
                return try destination(of: property, value, id, context)
            }
            guard let slot = AttributeCoercion.slotValue(value, for: attribute) else {
                throw failure("has a value of the wrong type for \(id.entity.name ?? "").\(property.name) of '\(id)'")
            }
            return slot
        }
        return .make(values, version: versions.version(of: try key(id), node.version))
    }

    private func destination(
        of property: NSPropertyDescription, _ known: Any?, _ id: NSManagedObjectID, _ context: NSManagedObjectContext
    ) throws -> SlotValue {
        guard let relationship = property as? NSRelationshipDescription else { return .null }
        let value = try known ?? store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
        switch value {
        case let id as NSManagedObjectID: return .reference(id)
        case let object as NSManagedObject: return .reference(object.objectID)
        case is NSNull: return .null
        default: throw failure("has \(type(of: value)) for \(property.name) of '\(id)', not an ID or NSNull")
        }
    }

    /// The destinations of each row in `ids`, as the store's `newValue` method returns them; none for a deleted row.
    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try lending { context in
            try ids.map { id in
                let own = id.entity.relationshipsByName[relationship.name] ?? relationship
                let read = try unlessGone {
                    try store.newValue(forRelationship: own, forObjectWith: id, with: context)
                }
                guard let value = read else { return [] }
                let list: [Any]
                switch value {
                case let set as NSSet: list = set.allObjects
                case let set as NSOrderedSet: list = set.array
                case is NSNull: list = []
                default: list = value as? [Any] ?? (value as? Set<NSManagedObjectID>).map { Array($0) } ?? [value]
                }
                var seen: Set<NSManagedObjectID> = []
                return try self.ids(of: list).filter { seen.insert($0).inserted }
            }
        }
    }

    // MARK: Saving

    func obtainPermanentIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        throw failure("can obtain IDs only for managed objects")
    }

    func obtainPermanentIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]? {
        try checkWritable()
        let ids = try store.obtainPermanentIDs(for: objects)
        guard ids.count == objects.count else {
            throw failure("returned \(ids.count) permanent IDs for \(objects.count) objects")
        }
        for id in ids { _ = try key(id) }
        return ids
    }

    private func checkWritable() throws {
        guard store.isReadOnly else { return }
        throw CoreDataError.make(
            513, "Cannot save to the store \(store.url?.absoluteString ?? ""): it was opened read-only.",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }

    func save(_ changes: StoreChangeSet) throws {
        guard !changes.isEmpty || store.hasUnsavedMetadata else { return }
        try checkWritable()
        try checkVersions(changes)
        if changes.isEmpty {
            let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
            _ = try lending { try store.execute(request, with: $0) }
        } else {
            guard let context = changes.objects.first?.managedObjectContext else {
                throw failure("can only save objects of a context")
            }
            // A dangling reference changes its missing destination too, but there is no row to write.
            let written = Set(changes.inserted.map(\.id))
            let objects = Set(
                changes.objects.filter { object in
                    written.contains(object.objectID) || !(object.rowKey.map(versions.isGone) ?? false)
                })
            let locked = Set(changes.locked.map(\.id))
            let request = NSSaveChangesRequest(
                inserted: objects.filter { $0.isInserted && !$0.isDeleted },
                updated: objects.filter { $0.isUpdated && !$0.isInserted && !$0.isDeleted },
                deleted: objects.filter(\.isDeleted),
                locked: locked.isEmpty ? nil : objects.filter { locked.contains($0.objectID) })
            _ = try store.execute(request, with: context)
        }
        saves += 1
        store.didSave()
        for row in changes.inserted { versions.didSave(try key(row.id), row.row.version) }
        for change in changes.updated { versions.didSave(try key(change.id), change.baseVersion &+ 1) }
        for change in changes.deleted { versions.didDelete(try key(change.id)) }
    }

    /// Throws a conflict for rows that another context of this store saved after the base version.
    private func checkVersions(_ changes: StoreChangeSet) throws {
        let stale = try (changes.updated + changes.deleted + changes.locked).filter { change in
            versions.isStale(try key(change.id), change.baseVersion)
        }
        if stale.isEmpty { return }
        let ids = stale.map(\.id)
        throw StoreConflicts(rows: Array(zip(ids, try rows(inOrderOf: ids)).map { ($0, $1) }))
    }

    var ownChangeCount: Int64? { saves }

    func objectID(for key: RowKey) -> NSManagedObjectID {
        guard Int(key.entity) < families.count else {
            preconditionFailure("The store \(store.url?.absoluteString ?? "") has no entity for the key \(key).")
        }
        return NSManagedObjectID(families[Int(key.entity)], reference: key.reference)
    }

    // MARK: What others did

    func dataVersion() throws -> Int64 { try store.changeVersion() }

    func changeToken() throws -> String { try store.changeToken() ?? UUID().uuidString }

    func lastHistoryNumber() throws -> Int64? { nil }

    func history(after number: Int64) throws -> [StoreTransaction] { [] }

    func close() throws {}
}
