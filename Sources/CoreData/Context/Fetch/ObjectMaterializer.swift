/// Makes the results of a fetch into objects of the context.
struct ObjectMaterializer {
    let context: NSManagedObjectContext
    /// How many objects share a ``FaultBatch`` when they come without rows.
    let batchSize: Int
    /// Whether objects that are real take over what the fetch read.
    let refreshes: Bool

    init(context: NSManagedObjectContext, request: NSFetchRequest<NSFetchRequestResult>) {
        self.context = context
        batchSize = request.fetchBatchSize > 0 ? request.fetchBatchSize : FaultBatch.defaultSize
        refreshes = request.shouldRefreshRefetchedObjects
    }

    /// One object per item, in order. Cost: one look-up in the registry each, and no reading.
    func objects(for items: [FetchedItem], of found: FoundRows) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(items.count)
        for item in items {
            switch item {
            case .found(let index): objects.append(object(for: found.id(at: index), row: found.row(at: index)))
            case .pending(let object): objects.append(object)
            }
        }
        if found.rows.isEmpty { FaultBatch.join(objects, size: batchSize) }
        return objects
    }

    private func object(for id: NSManagedObjectID, row: RowSnapshot?) -> NSManagedObject {
        let object = context.registry.object(for: id, row: row)
        if refreshes, let row, !object.isFault, object.snapshot !== row {
            context.refresher.adoptMerged(row, for: object)
        }
        return object
    }
}
