import Foundation

// Steps of a fetch. Pending changes are processed, the request is resolved to a plan, and the stores are queried under
// the coordinator's lock; a parent, if there is one, is queried instead and answers the same way. The SQL runs on the
// thread that runs the fetch, which is that of the context's queue: the lock has no thread of its own. Asynchronous
// fetches read in a `BackgroundReader`, without the lock if every store can be read so. A store returns
// keys in order and, on request, rows; what it cannot evaluate exactly is evaluated over the rows. Then the context's
// unsaved changes are applied, and only the remaining results become objects, IDs or a number. So a filtered-out row
// costs no object, and a count costs no row.
//
// Objects are returned as faults that carry their row. With a batch size, or without property values, they carry a
// FaultBatch instead: using one reads the rows of its whole batch.

/// The results of the stores, and the effect of the context's unsaved changes on them.
struct FetchAnswer {
    let found: FoundRows
    /// The results in order; `nil` if they are exactly those of the stores.
    let items: [FetchedItem]?

    /// The IDs of the results, in order.
    var ids: [NSManagedObjectID] {
        guard let items else { return found.ids }
        return items.map { item in
            switch item {
            case .found(let index): found.id(at: index)
            case .pending(let object): object.objectID
            }
        }
    }
}

extension NSFetchRequest {
    /// True if a fetch of objects reads whole rows at once.
    var readsRows: Bool { includesPropertyValues && fetchBatchSize <= 0 }
}

/// The fetches of one context. Belongs to the context's queue.
final class FetchPipeline {
    unowned let context: NSManagedObjectContext

    init(context: NSManagedObjectContext) { self.context = context }

    // MARK: Results

    /// Returns the results of `request`, in the form of its result type.
    ///
    /// - Throws: 134060 for a request that cannot be resolved (no entity, an unknown key, no store); the store's errors.
    func results(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> FetchResults {
        switch request.resultType {
        case .managedObjectIDResultType: .objectIDs(try objectIDs(request))
        case .countResultType: .count(try count(request))
        case .dictionaryResultType: .dictionaries(try DictionaryFetch(request, in: self).run())
        default: .objects(try objects(request))
        }
    }

    /// The results of any type, as untyped elements.
    func fetch(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [AnyObject] { try results(request).untyped }

    /// Returns the objects that match `request`, whatever its result type.
    func objects(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [NSManagedObject] {
        let plan = try plan(request)
        let wantsRows = request.readsRows && !plan.stores.contains { $0.operations.readsRowByRow }
        let answer = try answer(plan, seesUnsaved: request.includesPendingChanges, wantsRows: wantsRows)
        return try objects(for: consume answer, of: request, plan)
    }

    /// Creates the objects of an answer to `request`, as faults or real, as it asks.
    func objects(
        for answer: consuming FetchAnswer, of request: NSFetchRequest<NSFetchRequestResult>, _ plan: FetchPlan
    ) throws -> [NSManagedObject] {
        let objects = ObjectMaterializer(context: context, request: request).objects(for: consume answer)
        if let keyPaths = request.relationshipKeyPathsForPrefetching, !keyPaths.isEmpty {
            try Prefetcher(context: context).prefetch(keyPaths, for: objects, of: plan.entity)
        }
        if !request.returnsObjectsAsFaults && request.fetchBatchSize <= 0 {
            // A store that reads row by row has read none yet; an error of reading is the fetch's error, as with other
            // stores.
            if plan.stores.contains(where: { $0.operations.readsRowByRow }) {
                try context.faults.fetchRows(of: objects.filter { $0.isFault && $0.snapshot == nil })
            }
            objects.forEachHeld { $0.fireIfNeeded() }
        }
        context.registry.tellStores()
        return objects
    }

    private func objectIDs(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [NSManagedObjectID] {
        try answer(try plan(request), seesUnsaved: request.includesPendingChanges, wantsRows: false).ids
    }

    /// The number of objects that match `request`, with its offset and limit applied.
    ///
    /// Dictionaries that are grouped, computed or distinct are counted as they would be returned.
    func count(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> Int {
        if request.resultType == .dictionaryResultType {
            let fetch = try DictionaryFetch(request, in: self)
            if !fetch.isOnePerRow { return try fetch.run().count }
        }
        return try count(try plan(request), seesUnsaved: request.includesPendingChanges)
    }

    /// The number of objects that match `plan`.
    ///
    /// - Parameter seesUnsaved: true to apply the context's unsaved changes.
    func count(_ plan: FetchPlan, seesUnsaved: Bool) throws -> Int {
        let source = try source
        guard let overlay = try overlay(plan, seesUnsaved) else { return try source.count(plan) }
        return try source.reading {
            let all = plan.unlimited
            let outdated = overlay.touched.isEmpty ? 0 : try source.count(all.among(overlay.touched))
            return plan.cut(try source.count(all) - outdated + overlay.matching.count)
        }
    }

    // MARK: Steps

    /// Resolves a request after processing the pending changes.
    func plan(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> FetchPlan {
        context.requireQueue("a fetch of '\(request.entityName ?? "")'")
        context.processPendingChanges()
        try Self.requireGroupsAllowed(request)
        let plan = try FetchPlan(request, coordinator: try coordinator)
        return plan.limited(to: context.generation.visible(plan.stores))
    }

    /// Checks that only dictionaries are grouped, and that a having predicate has groups.
    private static func requireGroupsAllowed(_ request: NSFetchRequest<NSFetchRequestResult>) throws {
        let isGrouped = request.propertiesToGroupBy?.isEmpty == false
        if isGrouped && request.resultType != .dictionaryResultType {
            throw CoreDataError.make(
                134060, "Invalid fetch request: GROUP BY requires NSDictionaryResultType; set resultType.")
        }
        if request.havingPredicate != nil && !isGrouped {
            throw CoreDataError.make(
                134060, "Invalid fetch request: HAVING with no GROUP BY; set propertiesToGroupBy, or use predicate.")
        }
    }

    var coordinator: NSPersistentStoreCoordinator {
        get throws {
            if let coordinator = context.persistentStoreCoordinator { return coordinator }
            throw CoreDataError.make(
                134060, "Cannot fetch: the context has no persistent store coordinator. Set one first.")
        }
    }

    /// Runs `body` under the coordinator's lock, with the stores in the state that the context is pinned to.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        let coordinator = try coordinator
        return try coordinator.withLock { try context.generation.reading(coordinator, body) }
    }

    private var source: any ContextSource {
        get throws {
            if let source = context.source, source.coordinator != nil { return source }
            _ = try coordinator
            preconditionFailure("a context has a coordinator and no source")
        }
    }

    private func overlay(_ plan: FetchPlan, _ seesUnsaved: Bool) throws -> PendingOverlay? {
        seesUnsaved ? try PendingOverlay(plan, in: context) : nil
    }

    /// The results of `plan` from the stores or the parent, with the context's unsaved changes applied.
    func answer(_ plan: FetchPlan, seesUnsaved: Bool, wantsRows: Bool) throws -> FetchAnswer {
        let source = try source
        // Predicates may run a program's code, so they are evaluated outside of the lock.
        guard let overlay = try overlay(plan, seesUnsaved) else {
            return FetchAnswer(found: try source.find(plan, wantsRows: wantsRows), items: nil)
        }
        return try source.reading {
            let limit =
                plan.limit == 0 ? 0 : plan.limit.addingUpToMaximum(plan.offset).addingUpToMaximum(overlay.removable)
            let found = try source.find(plan.limited(to: limit, offset: 0), wantsRows: wantsRows)
            return FetchAnswer(found: found, items: plan.cut(try overlay.apply(to: found, plan)))
        }
    }
}
