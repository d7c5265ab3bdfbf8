import Foundation

/// The result of a request that runs in the background. Its members belong to the queue of the context, except
/// `cancel()`.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that executed the request.
    public final let managedObjectContext: NSManagedObjectContext
    /// The reason for a missing result; `nil` until the request ends, and if it succeeds. 3072 (`NSUserCancelledError`)
    /// if it was cancelled.
    public final fileprivate(set) var operationError: (any Error)?
    /// The progress: a child of the progress that was current when the request was executed; `nil` if there was none.
    /// Cancelling either cancels the request. Completed when the request ends, even if it fails.
    public final let progress: Progress?
    let interruption = Interruption()

    init(in context: NSManagedObjectContext, total: Int) {
        managedObjectContext = context
        let interruption = interruption
        progress = Progress.current().map {
            FetchProgress(of: interruption, total: Int64(max(total, 1)), beneath: $0)
        }
        super.init()
    }

    /// Stops the request; an SQLite statement stops at once. Any thread. The completion block is called with the error
    /// 3072, unless the request has already ended.
    open func cancel() { interruption.interrupt() }
}

/// The progress of an asynchronous fetch. Cancelling it stops the fetch, on the cancelling thread.
///
/// Foundation would call a cancellation handler on a global queue: if fetches block all of its threads, only after one
/// of them ends.
// SAFETY: the interruption is Sendable; the rest is Foundation's, with its own lock.
private final class FetchProgress: Progress, @unchecked Sendable {
    private let interruption: Interruption

    init(of interruption: Interruption, total: Int64, beneath parent: Progress) {
        self.interruption = interruption
        super.init(parent: parent, userInfo: nil)
        totalUnitCount = total
        isCancellable = true
    }

    override func cancel() {
        interruption.interrupt()
        super.cancel()
    }
}

/// The result of an asynchronous fetch. Used on the queue of the context that executed the request, except `cancel()`.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
    // No stored property depends on `ResultType`: see `seen(as:)`.
    private let request: NSPersistentStoreRequest
    private var results: FetchResults?

    init(of request: NSAsynchronousFetchRequest<ResultType>, in context: NSManagedObjectContext) {
        self.request = request
        super.init(in: context, total: request.estimatedResultCount)
    }

    /// The request that was executed.
    public final var fetchRequest: NSAsynchronousFetchRequest<ResultType> {
        respecialised(request)
    }

    /// The results; `nil` until the fetch ends, and if it failed or was cancelled. Use it on the context's queue.
    public final var finalResult: [ResultType]? {
        guard let results else { return nil }
        if let typed = results.typed(as: ResultType.self) { return typed }
        preconditionFailure(
            "An asynchronous fetch request for \(ResultType.self) found other results. Its resultType or entity must fit "
                + "this type.")
    }

    final func end(_ outcome: Result<FetchResults, any Error>) {
        switch outcome {
        case .success(let found): results = found
        case .failure(let error): operationError = error
        }
        guard let progress else { return }
        // A failed fetch is completed, too, because the parent progress waits for its child.
        if let results { progress.totalUnitCount = max(Int64(results.count), 1) }
        progress.completedUnitCount = progress.totalUnitCount
    }
}
