import Foundation

/// The objects of a fetch, one after the other, with the values of one batch in memory at a time:
///
/// ```swift
/// for try await team in context.objects(Team.self, sort: [SortDescriptor(\.teamName)]) { … }
/// ```
///
/// The first step finds the rows, at about eight bytes each; their values are read batch by batch, and objects that the
/// loop does not retain or change are released with their batch. Objects that are deleted in the meantime are skipped.
/// A cancelled task ends the loop with a `CancellationError`, and between batches other work can use the queue. An
/// addition to Apple's interface.
///
/// Belongs to the queue of its context.
public struct FetchedObjects<Object: NSManagedObject>: AsyncSequence {
    public typealias Element = Object

    fileprivate let context: NSManagedObjectContext
    fileprivate let request: NSFetchRequest<Object>
    fileprivate let batchSize: Int

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Iterates over the objects. Use it on the queue of the context.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: FetchedObjects
        private var list: NSFetchedResultsController<Object>?
        private var count = 0
        /// The position after the rows that were read.
        private var position = 0
        private var batch: [Object] = []

        fileprivate init(_ source: FetchedObjects) { self.source = source }

        /// The next object; `nil` after the last.
        ///
        /// - Throws: `CancellationError` if the task is cancelled, and the errors of a fetch: 134060 for a request that
        ///   cannot be resolved, the store's error if it cannot be read.
        public mutating func next() async throws -> Object? { try await next(isolation: #isolation) }

        /// The next object, on the caller's queue, which must be the context's; `nil` after the last.
        ///
        /// - Throws: `CancellationError` if the task is cancelled, and the errors of a fetch: 134060 for a request that
        ///   cannot be resolved, the store's error if it cannot be read.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Object? {
            while batch.isEmpty {
                try Task.checkCancellation()
                if list != nil { await Task.yield() }
                guard try readBatch() else { return nil }
            }
            return batch.removeLast()
        }

        /// Reads the values of the next rows, in reverse order.
        private mutating func readBatch() throws -> Bool {
            let list = try list ?? open()
            guard position < count else { return false }
            let range = position..<Swift.min(position + source.batchSize, count)
            position = range.upperBound
            let ids = list.objectIDs(at: range)
            let request = NSFetchRequest<Object>()
            request.entity = source.request.entity
            request.predicate = NSPredicate(format: "SELF IN %@", ids)
            request.returnsObjectsAsFaults = false
            request.includesPendingChanges = source.request.includesPendingChanges
            request.relationshipKeyPathsForPrefetching = source.request.relationshipKeyPathsForPrefetching
            let found = Dictionary(try source.context.fetch(request).map { ($0.objectID, $0) }) { first, _ in first }
            batch = ids.reversed().compactMap { found[$0] }
            return true
        }

        private mutating func open() throws -> NSFetchedResultsController<Object> {
            let list = NSFetchedResultsController(
                fetchRequest: source.request, managedObjectContext: source.context, sectionNameKeyPath: nil,
                cacheName: nil)
            try list.performFetch()
            self.list = list
            count = list.sections?.first?.numberOfObjects ?? 0
            return list
        }
    }
}

extension NSManagedObjectContext {
    /// The objects of a class for a loop, read in batches.
    ///
    /// - Parameters:
    ///   - type: the class; objects of its subclasses are included.
    ///   - predicate: selects the objects; `nil` for all.
    ///   - descriptors: the order; if empty, the order in which they were inserted.
    ///   - batchSize: the number of objects that are in memory at once.
    /// - Returns: the sequence, which reads nothing before its first step.
    /// - Throws: `CocoaError` 2048 if `predicate` cannot be converted.
    public func objects<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sort descriptors: [SortDescriptor<Object>] = [],
        batchSize: Int = 500
    ) throws -> FetchedObjects<Object> {
        let request = NSFetchRequest<Object>()
        request.entity = type.entity()
        request.predicate = try predicate.map { try NSPredicate.parse($0) }
        request.sortDescriptors = descriptors.map { NSSortDescriptor($0) }
        return objects(for: request, batchSize: batchSize)
    }

    /// The objects of a request for a loop, read in batches.
    ///
    /// - Parameters:
    ///   - request: the request; its limit and offset are used. It is copied.
    ///   - batchSize: the number of objects that are in memory at once.
    /// - Returns: the sequence, which reads nothing before its first step.
    public func objects<Object: NSManagedObject>(
        for request: NSFetchRequest<Object>, batchSize: Int = 500
    ) -> FetchedObjects<Object> {
        let copy = NSFetchRequest<Object>()
        copy.entity =
            request.entity ?? request.entityName.flatMap { NSEntityDescription.entity(forEntityName: $0, in: self) }
        copy.predicate = request.predicate
        copy.sortDescriptors = request.sortDescriptors
        if copy.sortDescriptors?.isEmpty != false {
            copy.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        }
        copy.includesSubentities = request.includesSubentities
        copy.includesPendingChanges = request.includesPendingChanges
        copy.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
        copy.affectedStores = request.affectedStores
        (copy.fetchLimit, copy.fetchOffset) = (request.fetchLimit, request.fetchOffset)
        return FetchedObjects(context: self, request: copy, batchSize: Swift.max(1, batchSize))
    }
}
