import Foundation

/// The result of a request that goes on in the background. Its members belong to the queue of the context, but for
/// `cancel()`.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that executed the request.
    public final let managedObjectContext: NSManagedObjectContext
    /// Why there is no result; `nil` until it is over, and where all went well. 3072 (`NSUserCancelledError`) when it was cancelled.
    public final fileprivate(set) var operationError: (any Error)?
    /// How far it is: a child of the progress that was current when the request was executed; `nil` where none was. Cancelling
    /// either one cancels the work. It is complete when the request is over, whether that succeeded or failed.
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

    /// Stops the work: a statement of SQLite at once. On any thread. The completion block is called with the error 3072, unless
    /// the work was over already.
    open func cancel() { interruption.interrupt() }
}

/// The progress of an asynchronous fetch, which stops it on the thread that cancels.
///
/// Foundation calls a progress's handler on a global queue: when fetches keep all of its threads busy, once one of them is over.
// SAFETY: the interruption is Sendable; the rest is Foundation's, which locks it.
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

/// The result of an asynchronous fetch. Used on the queue of the context that executed the request, but for `cancel()`.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
    // Nothing that is stored depends on `ResultType`: see `seen(as:)`.
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

    /// What was found; `nil` until the fetch is over, and where it failed or was cancelled. On the context's
    /// queue.
    public final var finalResult: [ResultType]? {
        guard let results else { return nil }
        if let typed = results.typed(as: ResultType.self) { return typed }
        preconditionFailure(
            "An asynchronous fetch request for \(ResultType.self) found others: its resultType or its entity does not fit "
                + "its type.")
    }

    final func end(_ outcome: Result<FetchResults, any Error>) {
        switch outcome {
        case .success(let found): results = found
        case .failure(let error): operationError = error
        }
        guard let progress else { return }
        // What failed is over as well: the parent waits for its child.
        if let results { progress.totalUnitCount = max(Int64(results.count), 1) }
        progress.completedUnitCount = progress.totalUnitCount
    }
}
