import Foundation

// How a fetch goes. Pending changes are processed, the request is resolved to a plan, and the stores are asked under the
// coordinator's lock. A store answers with keys in order and, on request, rows; what it could not do exactly is done over
// the rows. Then the context's unsaved changes are put over the answer, and only what is left is made into objects, IDs
// or a number. So a filtered-out row costs no object, and a count no row.
//
// Objects come as faults that carry their row. With a batch size, or without property values, they carry a FaultBatch
// instead: touching one reads its neighbours' rows too.

/// What the stores found, and what became of it under the context's unsaved changes.
struct FetchAnswer {
    let found: FoundRows
    /// The results in order; `nil` when they are exactly what the stores found.
    let items: [FetchedItem]?
}

/// The fetches of one context. Belongs to the context's queue.
final class FetchPipeline {
    unowned let context: NSManagedObjectContext

    /// What `data_version` was at the last fetch, by store.
    private var dataVersions: [ObjectIdentifier: Int64] = [:]

    init(context: NSManagedObjectContext) { self.context = context }

    // MARK: Results

    /// The results of `request`, in the form that its result type says.
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

    /// As ``results(_:)``, without their type.
    func fetch(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [AnyObject] { try results(request).untyped }

    /// The objects that `request` finds, whatever its result type.
    func objects(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [NSManagedObject] {
        let plan = try plan(request)
        let readsRows = request.includesPropertyValues && request.fetchBatchSize <= 0
        let answer = try answer(plan, request, wantsRows: readsRows)
        let objects = ObjectMaterializer(context: context, request: request).objects(for: answer)
        if let keyPaths = request.relationshipKeyPathsForPrefetching, !keyPaths.isEmpty {
            try Prefetcher(context: context).prefetch(keyPaths, for: objects, of: plan.entity)
        }
        if !request.returnsObjectsAsFaults && request.fetchBatchSize <= 0 {
            for object in objects where object.isFault { object.fireIfNeeded() }
        }
        return objects
    }

    private func objectIDs(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [NSManagedObjectID] {
        let answer = try answer(try plan(request), request, wantsRows: false)
        guard let items = answer.items else { return answer.found.ids }
        return items.map { item in
            switch item {
            case .found(let index): answer.found.id(at: index)
            case .pending(let object): object.objectID
            }
        }
    }

    /// How many objects `request` finds; offset and limit count.
    func count(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> Int {
        let plan = try plan(request)
        guard let overlay = try overlay(plan, request) else { return try storedCount(plan) }
        let all = plan.unlimited
        let outdated = overlay.touched.isEmpty ? 0 : try storedCount(all.among(overlay.touched))
        return plan.cut(try storedCount(all) - outdated + overlay.matching.count)
    }

    // MARK: Steps

    /// Resolves a request, with the pending changes processed.
    func plan(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> FetchPlan {
        context.processPendingChanges()
        return try FetchPlan(request, coordinator: try coordinator)
    }

    var coordinator: NSPersistentStoreCoordinator {
        get throws {
            if let coordinator = context.persistentStoreCoordinator { return coordinator }
            throw CoreDataError.make(
                134060, "Cannot fetch: the context has no persistent store coordinator; give it one first.")
        }
    }

    /// Runs `body` under the coordinator's lock, with the stores in the state that the context is pinned to.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        let coordinator = try coordinator
        return try coordinator.withLock { try context.generation.reading(coordinator, body) }
    }

    private func overlay(_ plan: FetchPlan, _ request: NSFetchRequest<NSFetchRequestResult>) throws -> PendingOverlay? {
        request.includesPendingChanges ? try PendingOverlay(plan, in: context) : nil
    }

    private func answer(
        _ plan: FetchPlan, _ request: NSFetchRequest<NSFetchRequestResult>, wantsRows: Bool
    ) throws -> FetchAnswer {
        var query = plan.query
        query.wantsRows = wantsRows
        guard let overlay = try overlay(plan, request) else {
            let found = try reading { try find(plan, query) }
            return FetchAnswer(found: found, items: nil)
        }
        query.limit = plan.limit == 0 ? 0 : plan.limit + plan.offset + overlay.removable
        query.offset = 0
        return try reading {
            let found = try find(plan, query)
            return FetchAnswer(found: found, items: plan.cut(try overlay.apply(to: found, plan)))
        }
    }

    private func find(_ plan: FetchPlan, _ query: StoreQuery) throws -> FoundRows {
        for store in plan.stores {
            let version = try store.operations.dataVersion()
            let last = dataVersions.updateValue(version, forKey: ObjectIdentifier(store))
            if let last, last != version { context.othersSaved.raise() }
        }
        return try StoreFetch(plan: plan).run(query)
    }

    /// The number of saved objects that match.
    private func storedCount(_ plan: FetchPlan) throws -> Int {
        var query = plan.query
        query.wantsRows = false
        query.sortKeys = []
        return try reading {
            if plan.stores.count == 1, let count = try plan.stores[0].operations.count(query) { return count }
            return try StoreFetch(plan: plan.unsorted).run(query).count
        }
    }
}
