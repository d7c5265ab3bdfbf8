/// Turns the results of a fetch into objects of the context.
struct ObjectMaterializer {
    let context: NSManagedObjectContext
    /// The number of objects without rows that share a ``FaultBatch``.
    let batchSize: Int
    /// True if objects with values adopt the rows that the fetch read.
    let refreshes: Bool

    init(context: NSManagedObjectContext, request: NSFetchRequest<NSFetchRequestResult>) {
        self.context = context
        batchSize = request.fetchBatchSize > 0 ? request.fetchBatchSize : FaultBatch.defaultSize
        refreshes = request.shouldRefreshRefetchedObjects
    }

    /// One object per result, in order. Cost: one registry look-up each. Reads nothing.
    func objects(for answer: consuming FetchAnswer) -> [NSManagedObject] {
        // Leaves `found` as the only owner of the rows, so they can be moved out of it.
        let items = answer.items
        var found = (consume answer).found
        if items == nil, found.owners.isEmpty, found.namedIDs.isEmpty, let store = found.stores.first,
            let maker = context.registry.maker(for: store)
        {
            return objects(for: &found, maker)
        }
        let made = items.map { objects(for: $0, of: found) } ?? objects(for: found)
        if found.rows.isEmpty { FaultBatch.join(made, size: batchSize) }
        return made
    }

    /// The objects of one store's results, created without IDs.
    private func objects(for found: inout FoundRows, _ maker: FaultMaker) -> [NSManagedObject] {
        var maker = maker
        if found.rows.isEmpty { return maker.faults(for: found.keys, batchSize: batchSize) }
        let made =
            refreshes
            ? zip(found.keys, found.rows).map { refreshed(maker.object(for: $0, row: $1), $1) }
            : maker.objects(for: found.keys, taking: &found.rows)
        if let first = made.first, let store = found.stores.first {
            context.faults.ahead.noteFetch(of: found.keys, first.layout, from: store)
        }
        return made
    }

    private func objects(for found: FoundRows) -> [NSManagedObject] {
        let ids = found.ids
        guard !found.rows.isEmpty else { return ids.map { context.registry.object(for: $0, row: nil, isLocal: true) } }
        return zip(ids, found.rows).map { object(for: $0, row: $1) }
    }

    private func objects(for items: [FetchedItem], of found: FoundRows) -> [NSManagedObject] {
        let ids = found.ids
        return items.map { item in
            switch item {
            case .found(let index): object(for: ids[index], row: found.row(at: index))
            case .pending(let object): object
            }
        }
    }

    private func object(for id: NSManagedObjectID, row: RowSnapshot?) -> NSManagedObject {
        refreshed(context.registry.object(for: id, row: row, isLocal: true), row)
    }

    private func refreshed(_ object: NSManagedObject, _ row: RowSnapshot?) -> NSManagedObject {
        if refreshes, let row, !object.isFault, object.snapshot !== row {
            context.refresher.adoptMerged(row, for: object)
        }
        return object
    }
}
