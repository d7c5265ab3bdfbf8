import CoreData
import Foundation

/// Counts a list's saved records by the values of columns, beside the keys, and makes of the counts what a screen shows.
/// The counting ends when nothing holds the task any more.
final class ColumnCountsTask<Made> {
    private let task: BackgroundTask<Made>

    /// Most lists are counted within this time: no other screen flashes up for them.
    private static var patience: Duration { .milliseconds(80) }

    /// - Parameters:
    ///   - whenDone: called on the main thread where the counts come later.
    ///   - make: runs on another thread.
    init(
        _ query: ColumnCounts.Query, in context: NSManagedObjectContext, whenDone: @escaping () -> Void,
        _ make: @escaping (ColumnCounts) throws -> Made
    ) {
        let coordinator = context.persistentStoreCoordinator
        task = BackgroundTask(whenDone: whenDone) { stop in
            let own = NSManagedObjectContext(.privateQueue)
            own.persistentStoreCoordinator = coordinator
            return try make(ColumnCounts(query, in: own, stop: stop))
        }
        _ = task.wait(Self.patience)
    }

    var began: ContinuousClock.Instant { task.began }

    /// What was made, given once; `nil` while the counting goes on.
    func take() -> Result<Made, any Error>? { task.take() }

    deinit { task.stop.raise() }
}

extension ColumnCounts {
    /// What is counted.
    struct Query {
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
    fileprivate init(_ query: Query, in context: NSManagedObjectContext, stop: StopFlag) throws {
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
