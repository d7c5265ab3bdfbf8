import CoreData
import Foundation

nonisolated extension ColumnCounts {
    /// Most lists are counted within this time.
    static var patience: Duration { .milliseconds(80) }

    /// Counts in the background and makes a screen's contents of the counts.
    ///
    /// - Parameter deliver: receives the contents, unless the job is released before.
    @MainActor static func job<Made>(
        _ query: Query, in context: NSManagedObjectContext, _ make: @escaping @Sendable (ColumnCounts) throws -> Made,
        then deliver: @escaping (Result<Made, any Error>) -> Void
    ) -> Job<Made> {
        let coordinator = context.persistentStoreCoordinator
        return Job(
            onThread: { control in
                let own = NSManagedObjectContext(.privateQueue)
                own.persistentStoreCoordinator = coordinator
                return try make(ColumnCounts(query, in: own, stop: control))
            }, then: deliver)
    }

    /// What is counted.
    nonisolated struct Query {
        /// Of attributes, also behind to-one relationships.
        var keyPaths: [String]
        var entity: NSEntityDescription
        var filter: String
        /// The key path of a number to sum up in each group.
        var summed: String?
    }

    /// Reads on the store's side of the context, so that others of the same store are not held up.
    ///
    /// - Throws: what the fetch throws, and 3072 after the flag was raised.
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
        // The result holds its request, whose block holds the result.
        defer { result = nil }
        if let error = result?.operationError { throw error }
        self.init(rows: result?.finalResult ?? [], query)
    }
}

/// The list's last changes that counts show, and when they were made.
struct SeenChanges {
    private let batch: Int
    private let time: ContinuousClock.Instant
    private static let patience = Duration.milliseconds(500)

    init(of list: ListScreen) { (batch, time) = (list.log.batch, .now) }

    /// Whether the list changed after them, and it is time to count again.
    func areOld(in list: ListScreen) -> Bool { batch != list.log.batch && .now - time > Self.patience }
}
