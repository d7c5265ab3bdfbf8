import Foundation

// How a fetch goes. Pending changes are processed, the request is resolved to a plan, and what lies beneath the context is
// asked: the stores under the coordinator's lock, or the parent, which answers in the same way for itself. A store answers with keys in order and, on request, rows; what it could not do exactly is done over
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
    /// Whether a fetch of objects reads whole rows at once.
    var readsRows: Bool { includesPropertyValues && fetchBatchSize <= 0 }
}

/// The fetches of one context. Belongs to the context's queue.
final class FetchPipeline {
    unowned let context: NSManagedObjectContext

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
        let wantsRows = request.readsRows && !plan.stores.contains { $0.operations.readsRowByRow }
        let answer = try answer(plan, seesUnsaved: request.includesPendingChanges, wantsRows: wantsRows)
        return try objects(for: consume answer, of: request, plan)
    }

    /// The objects of an answer to `request`, in the state that it asks for.
    func objects(
        for answer: consuming FetchAnswer, of request: NSFetchRequest<NSFetchRequestResult>, _ plan: FetchPlan
    ) throws -> [NSManagedObject] {
        let objects = ObjectMaterializer(context: context, request: request).objects(for: consume answer)
        if let keyPaths = request.relationshipKeyPathsForPrefetching, !keyPaths.isEmpty {
            try Prefetcher(context: context).prefetch(keyPaths, for: objects, of: plan.entity)
        }
        if !request.returnsObjectsAsFaults && request.fetchBatchSize <= 0 {
            // A store that reads row by row has not read any yet; what it cannot read is the fetch's error, as with other stores.
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

    /// How many objects `request` finds; offset and limit count.
    ///
    /// Dictionaries that are grouped, computed or distinct are counted as they would be given.
    func count(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> Int {
        if request.resultType == .dictionaryResultType {
            let fetch = try DictionaryFetch(request, in: self)
            if !fetch.isOnePerRow { return try fetch.run().count }
        }
        return try count(try plan(request), seesUnsaved: request.includesPendingChanges)
    }

    /// How many objects `plan` finds.
    ///
    /// - Parameter seesUnsaved: whether the context's unsaved changes count.
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

    /// Resolves a request, with the pending changes processed.
    func plan(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> FetchPlan {
        context.requireQueue("a fetch of '\(request.entityName ?? "")'")
        context.processPendingChanges()
        try Self.requireGroupsAllowed(request)
        let plan = try FetchPlan(request, coordinator: try coordinator)
        return plan.limited(to: context.generation.visible(plan.stores))
    }

    /// Only dictionaries are grouped, and only groups are chosen.
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
                134060, "Cannot fetch: the context has no persistent store coordinator; give it one first.")
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

    /// What `plan` finds: beneath the context, with its unsaved changes put over it.
    func answer(_ plan: FetchPlan, seesUnsaved: Bool, wantsRows: Bool) throws -> FetchAnswer {
        let source = try source
        // Predicates may run a program's own code: not under a lock.
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
