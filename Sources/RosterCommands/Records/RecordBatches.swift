import CoreData

/// Records in batches, with what their columns show of other records: a few queries for each batch, and none for a record.
enum RecordBatches {
    private static let size = 500

    /// Calls `body` with each record, in order.
    ///
    /// - Parameter records: of `entity`; may be read as they are asked for.
    /// - Throws: the store's error, and what `body` throws.
    static func forEach(
        _ records: some RandomAccessCollection<NSManagedObject>, of entity: NSEntityDescription,
        showing columns: [RecordColumn], _ body: (NSManagedObject) throws -> Void
    ) throws {
        let paths = Set(columns.flatMap(\.relationshipPaths)).sorted()
        guard !paths.isEmpty, let context = records.first?.managedObjectContext else {
            for record in records { try body(record) }
            return
        }
        var start = records.startIndex
        while start != records.endIndex {
            let end = records.index(start, offsetBy: size, limitedBy: records.endIndex) ?? records.endIndex
            let batch = Array(records[start..<end])
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = entity
            request.predicate = NSPredicate(format: "SELF IN %@", batch.map(\.objectID))
            request.relationshipKeyPathsForPrefetching = paths
            request.returnsObjectsAsFaults = false
            // What was read is held by its records until the batch is done.
            let read = try context.fetch(request)
            try withExtendedLifetime(read) { for record in batch { try body(record) } }
            start = end
        }
    }
}
