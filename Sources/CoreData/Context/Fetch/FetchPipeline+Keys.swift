import Foundation
import PredicateSyntax

/// The keys of a list: all data that a million rows need until they are displayed.
struct FetchedKeys {
    let store: any RowStore
    /// The keys of the rows, in the request's order.
    var keys: [RowKey]
    /// The runs of equal values: see ``StoreQueryResult/groups``.
    var groups: [RowGroup]?
    /// The values read with the keys: see ``StoreQueryResult/extraValues``.
    var extraValues: [[SlotValue]]?
}

// Used by results controllers: lists by key, with objects only for the rows that are displayed.
extension FetchPipeline {
    /// Returns the keys of saved rows that match `request`, in its order, with limit and offset. Ignores the context's
    /// unsaved changes. One query, no objects.
    ///
    /// - Parameters:
    ///   - groupedBy: the key path of an attribute; if given, the result has the runs of equal values.
    ///   - extraPaths: the key paths of attributes whose values are read too.
    /// - Returns: `nil` if keys are not enough, because several stores hold the entity or the context has a parent:
    ///   fetch objects then.
    func keys(
        _ request: NSFetchRequest<NSFetchRequestResult>, groupedBy keyPath: [String]? = nil,
        extraPaths: [[String]] = []
    ) throws -> FetchedKeys? {
        let plan = try plan(request)
        guard let store = storeOfKeys(plan) else { return nil }
        var query = plan.query
        query.wantsRows = false
        query.groupedBy = keyPath
        query.extraPaths = extraPaths
        let found = try reading { try StoreFetch(plan: plan).run(query) }
        return FetchedKeys(store: store, keys: found.keys, groups: found.groups, extraValues: found.extraValues)
    }

    /// Returns the keys of the first `limit` saved rows that match `terms` instead of the plan's predicate, in the
    /// plan's order.
    ///
    /// - Parameter terms: the conditions, each on one attribute.
    /// - Returns: `nil` if no index of the store has the order and evaluates all conditions, with several stores, and
    /// in a child context.
    func keysByIndex(_ plan: FetchPlan, where terms: [PredicateTree], limit: Int) throws -> [RowKey]? {
        guard let store = storeOfKeys(plan) else { return nil }
        var query = plan.query
        query.predicate = .and(terms)
        (query.limit, query.offset) = (limit, 0)
        query.wantsRows = false
        query.indexedTerms = terms.count
        let found = try reading { try store.operations.fetch(query) }
        return found.unsupported.isEmpty ? found.keys : nil
    }

    /// The store whose keys identify all results of `plan`; `nil` with several stores, and in a context with a parent,
    /// whose new objects have no keys.
    func storeOfKeys(_ plan: FetchPlan) -> (any RowStore)? {
        plan.stores.count == 1 && context.source?.parent == nil ? plan.stores[0] : nil
    }

    /// Returns the saved objects among the rows of `ids` that match `request`, in its order, without limit and offset.
    /// Used after another context or process changed the rows. One query.
    func matching(
        _ request: NSFetchRequest<NSFetchRequestResult>, among ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID] {
        let plan = try plan(request).among(ids)
        var query = plan.query
        query.wantsRows = false
        let found = try reading { try StoreFetch(plan: plan).run(query) }
        return found.keys.indices.map { found.id(at: $0) }
    }

    /// The objects of `ids`, in the same order. Missing rows are read with one query per store. An object whose row no
    /// longer exists stays a fault.
    func objects(for ids: [NSManagedObjectID]) throws -> [NSManagedObject] {
        let registry = context.registry
        let objects = ids.map { registry.object(for: $0) }
        try readRows(of: objects)
        return objects
    }

    /// Reads the missing rows of `objects` with one query per store. The objects stay faults.
    func readRows(of objects: [NSManagedObject]) throws {
        guard let source = context.source else { return }
        var missing: [NSManagedObject] = []
        var ids: [NSManagedObjectID] = []
        var seen: Set<ObjectIdentifier> = []
        var ours: StoreReference?
        for object in objects where object.waitsForRow {
            let id = object.objectID
            // `mayHold` has the same answer for all rows of a store, so it is called once for consecutive rows of one
            // store.
            guard ours != nil && !id.isTemporaryID && id.isMade(for: ours) || source.mayHold(id) else { continue }
            ours = id.storeReference
            // Several rows may refer to the same object, which is read once.
            guard seen.insert(ObjectIdentifier(object)).inserted else { continue }
            missing.append(object)
            ids.append(id)
        }
        guard !missing.isEmpty else { return }
        let rows = try source.rows(inOrderOf: ids)
        for (object, row) in zip(missing, rows) where object.snapshot == nil { object.snapshot = row }
    }

    /// The objects of the rows with `keys`; each gets its row.
    func objects(for keys: some Sequence<RowKey>, in store: any RowStore) throws -> [NSManagedObject] {
        try objects(for: try reading { keys.map { store.operations.objectID(for: $0) } })
    }
}
