import CoreData

/// Records in batches, with the related records that their columns show: a few queries per batch, none per record.
enum RecordBatches {
    private static let size = 500

    /// Calls `body` with each record, in order.
    ///
    /// - Parameter records: records of `entity`, possibly read on access.
    /// - Throws: the store's error, or what `body` throws.
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
            // The records hold their rows until the batch is done.
            let read = try context.fetch(request)
            try withExtendedLifetime(read) { for record in batch { try body(record) } }
            start = end
        }
    }
}
