import CoreData
import Foundation

/// The records of one entity, without subentities, read in batches: in memory are the ID of each record and the values
/// of one batch. Use it on the context's queue.
final class RecordWalk {
    struct Batch {
        let objects: [NSManagedObject]
        /// The stored bytes of values that cannot be decoded and read as nil.
        let uncoded: [NSManagedObjectID: [String: Data]]
    }

    private let entity: NSEntityDescription
    private let ids: [NSManagedObjectID]
    /// Reads the batches, and is reset after each.
    private let reader = NSManagedObjectContext(.privateQueue)
    private let batchSize: Int
    private(set) var position = 0

    var count: Int { ids.count }

    /// - Parameter keyPaths: the order; without any, and for records with equal values, by their number in the store.
    init(of entity: NSEntityDescription, by keyPaths: [String] = [], in context: NSManagedObjectContext) throws {
        self.entity = entity
        // Large values of many records would fill the memory.
        let isHeavy = entity.storedAttributes.contains { $0.attributeType == .binaryDataAttributeType }
        batchSize = isHeavy ? 50 : 500
        let request = NSFetchRequest<NSManagedObjectID>()
        request.entity = entity
        request.includesSubentities = false
        request.resultType = .managedObjectIDResultType
        request.sortDescriptors = (keyPaths.isEmpty ? ["self"] : keyPaths).map {
            NSSortDescriptor(key: $0, ascending: true)
        }
        ids = try context.fetch(request)
        reader.persistentStoreCoordinator = context.persistentStoreCoordinator
        let generation = context.queryGenerationToken
        try reader.performAndWait { try reader.setQueryGenerationFrom(generation) }
    }

    /// Calls `body` with the next batch, in order; returns `nil` after the last.
    func nextBatch<Result>(_ body: (Batch) throws -> Result) throws -> Result? {
        guard position < count else { return nil }
        let range = position..<min(position + batchSize, count)
        position = range.upperBound
        let ids = Array(ids[range])
        return try reader.performAndWait {
            defer { reader.reset() }
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = entity
            request.includesSubentities = false
            request.predicate = NSPredicate(format: "SELF IN %@", ids)
            request.returnsObjectsAsFaults = false
            request.relationshipKeyPathsForPrefetching = entity.storedRelationships.map(\.name)
            let found = Dictionary(try reader.fetch(request).map { ($0.objectID, $0) }) { first, _ in first }
            let objects = ids.compactMap { found[$0] }
            return try body(Batch(objects: objects, uncoded: uncodedValues(of: objects)))
        }
    }

    private func uncodedValues(of objects: [NSManagedObject]) throws -> [NSManagedObjectID: [String: Data]] {
        let holders = objects.filter { object in
            object.entity.attributesByName.values.contains { $0.mayBeUncoded(in: object) }
        }.map(\.objectID)
        return try holders.isEmpty
            ? [:] : reader.persistentStoreCoordinator?.uncodedValues(of: entity, among: holders) ?? [:]
    }
}
