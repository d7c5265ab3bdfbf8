import CoreData
import Foundation

nonisolated extension ColumnCounts {
    /// Time to wait for the counts before the screen is drawn without them.
    static var patience: Duration { .milliseconds(80) }

    /// Counts in the background and converts the counts for a screen.
    ///
    /// - Parameter deliver: receives the result, unless the job was released before.
    @MainActor static func job<Made>(
        _ query: Query, in context: NSManagedObjectContext, _ make: @escaping @Sendable (ColumnCounts) throws -> Made,
        then deliver: @escaping (Result<Made, any Error>) -> Void
    ) -> Job<Made> {
        let coordinator = context.persistentStoreCoordinator
        return Job(onThread: { try make(ColumnCounts(query, of: coordinator, stop: $0)) }, then: deliver)
    }

    /// Counts in a context of its own, on a thread that may wait.
    init(_ query: Query, of coordinator: NSPersistentStoreCoordinator?, stop: JobControl = JobControl()) throws {
        let own = NSManagedObjectContext(.privateQueue)
        own.persistentStoreCoordinator = coordinator
        try self.init(query, in: own, stop: stop)
    }

    /// The columns and records to count.
    nonisolated struct Query {
        /// Key paths of attributes, possibly through to-one relationships.
        var keyPaths: [String]
        var entity: NSEntityDescription
        var filter: String
        /// The key path of a number to sum up in each group.
        var summed: String?
    }

    /// Counts with an asynchronous fetch, which does not block other contexts of the store.
    ///
    /// - Throws: errors of the fetch; 3072 after `stop` was raised.
    // SAFETY: the semaphore orders the writing of `result` before its reading.
    fileprivate init(_ query: Query, in context: NSManagedObjectContext, stop: JobControl) throws {
        let ended = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: NSAsynchronousFetchResult<NSDictionary>?
        let request = NSAsynchronousFetchRequest(fetchRequest: try Self.request(query)) {
            result = $0
            ended.signal()
        }
        let running = try context.performAndWait {
            try context.execute(request) as? NSPersistentStoreAsynchronousResult
        }
        while ended.wait(timeout: .now() + 0.05) == .timedOut { if stop.isRaised { running?.cancel() } }
        // Breaks the cycle of the result, its request and the request's block.
        defer { result = nil }
        if let error = result?.operationError { throw error }
        self.init(rows: result?.finalResult ?? [], query)
    }
}

/// The last changes of the list that the counts include, and their time.
struct SeenChanges {
    private let batch: Int
    private let time: ContinuousClock.Instant
    private static let patience = Duration.milliseconds(500)

    init(of list: ListScreen) { (batch, time) = (list.log.batch, .now) }

    /// True if the list changed since then and it is time to count again.
    func areOld(in list: ListScreen) -> Bool { batch != list.log.batch && .now - time > Self.patience }
}
