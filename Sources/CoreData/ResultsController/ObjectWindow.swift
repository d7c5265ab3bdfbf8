/// The objects that were looked at last, so that a screen of rows reads its values with one query and not row by row.
///
/// Rows are taken in pages of neighbours. A page's objects are faults that share a ``FaultBatch``: the first one that is
/// touched reads the rows of all. The last few pages are kept alive; the context itself keeps no unchanged objects.
struct ObjectWindow {
    private static let defaultPageSize = 64
    private static let keptPages = 8

    /// How many rows are read at a time.
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
        pages.append(page)
        if pages.count > Self.keptPages { pages.removeFirst() }
        return page[position - start]
    }

    /// One object for each ID, in batches that read their rows together.
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
