/// The objects that were accessed last, so that the values of a screen of rows are read by one query and not row by
/// row.
///
/// Rows are loaded in pages of adjacent rows. A page's objects are faults that share a ``FaultBatch``: touching the
/// first one reads the rows of all. The last few pages are kept alive; the context itself does not retain unchanged
/// objects.
struct ObjectWindow {
    private static let defaultPageSize = 64
    private static let keptPages = 8

    /// The number of rows that are read at a time.
    let batchSize: Int
    private var pages: [[NSManagedObject]] = []

    init(batchSize: Int) { self.batchSize = batchSize > 0 ? batchSize : Self.defaultPageSize }

    /// The object at a position of the state's published contents.
    mutating func object(at position: Int, in state: ResultsState) -> NSManagedObject {
        let token = state.published.rows[position]
        let id = state.identities.objectID(of: token)
        if let known = state.context.registry.registered(id), !known.isFault || known.snapshot != nil { return known }
        let start = position / batchSize * batchSize
        let tokens = state.published.rows.elements(in: start..<min(start + batchSize, state.published.rowCount))
        let page = Self.faults(
            for: state.identities.objectIDs(of: tokens), in: state.context, batchSize: batchSize)
        Self.prefetch(page, in: state)
        pages.append(page)
        if pages.count > Self.keptPages { pages.removeFirst() }
        return page[position - start]
    }

    /// Reads a page and the related objects that the request names, with one query for each relationship. An error is
    /// left to the reading of the values.
    private static func prefetch(_ page: [NSManagedObject], in state: ResultsState) {
        guard let keyPaths = state.request.relationshipKeyPathsForPrefetching, !keyPaths.isEmpty else { return }
        try? state.context.fetchPipeline.readRows(of: page)
        // Firing a fault whose row was deleted would delete the object.
        try? Prefetcher(context: state.context).prefetch(
            keyPaths, for: page.filter { !$0.waitsForRow }, of: state.definition.plan.entity)
    }

    /// One object for each ID, as faults in batches that read their rows together.
    static func faults(
        for ids: [NSManagedObjectID], in context: NSManagedObjectContext, batchSize: Int
    ) -> [NSManagedObject] {
        let objects = ids.map { context.registry.object(for: $0) }
        for start in stride(from: 0, to: ids.count, by: batchSize) {
            let range = start..<min(start + batchSize, ids.count)
            let batch = FaultBatch.make(of: objects[range])
            for object in objects[range] where object.waitsForRow { object.faultBatch = batch }
        }
        return objects
    }
}
