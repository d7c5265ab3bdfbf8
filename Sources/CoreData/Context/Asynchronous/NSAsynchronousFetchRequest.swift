import Foundation

/// A block that is called with the result of an asynchronous fetch, on the queue of its context.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (
    NSAsynchronousFetchResult<NSFetchRequestResult>
) -> Void

/// A fetch that runs in the background, off the context's queue.
///
/// `NSManagedObjectContext.execute(_:)` returns at once with an ``NSAsynchronousFetchResult``, and calls the completion
/// block on the context's queue when the fetch succeeds, fails or is cancelled: once, and never before `execute(_:)`
/// returns. SQLite stores in files in WAL mode are read through a separate connection, so neither the context's queue
/// nor a save waits; other stores are read on another thread under the coordinator's lock. A context with a parent, or
/// one pinned to a query generation, fetches on its own queue, later.
///
/// The results are those at the time of execution, with the context's unsaved changes at the time of completion.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
    // No stored property depends on `ResultType`: see `erased`.
    private var storedRequest = NSFetchRequest<NSFetchRequestResult>()
    private var storedBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock?

    /// The expected number of results, the total of the fetch's progress. 0, the default, means unknown.
    open var estimatedResultCount = 0

    /// Creates a request that fetches nothing: use ``init(fetchRequest:completionBlock:)``.
    public required init() {}

    /// Creates a request that executes another one in the background.
    ///
    /// - Parameters:
    ///   - request: the request to execute, with its settings at the time of execution.
    ///   - blk: called on the context's queue when the fetch ends.
    public convenience init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        self.init()
        storedRequest = request.erased
        affectedStores = request.affectedStores
        if let blk { storedBlock = { blk(respecialised($0)) } }
    }

    /// The request that is executed in the background.
    open var fetchRequest: NSFetchRequest<ResultType> { storedRequest.typed(as: ResultType.self) }

    /// The block that is called when the fetch ends.
    open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? { storedBlock }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSAsynchronousFetchRequest<ResultType> else { return result }
        copy.storedRequest = storedRequest
        copy.storedBlock = storedBlock
        copy.estimatedResultCount = estimatedResultCount
        return copy
    }
}

extension NSAsynchronousFetchRequest: ContextExecutable {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult<ResultType>(of: self, in: context)
        let block = storedBlock
        let fetch = try AsynchronousFetch(
            storedRequest, stores: affectedStores, in: context, interruption: result.interruption
        ) { outcome in
            result.end(outcome)
            block?(respecialised(result))
        }
        fetch.start()
        return result
    }
}
