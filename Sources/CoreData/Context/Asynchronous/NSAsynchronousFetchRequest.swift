import Foundation

/// What is called with the result of an asynchronous fetch, on the queue of its context.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (
    NSAsynchronousFetchResult<NSFetchRequestResult>
) -> Void

/// A fetch that runs in the background, beside the context's queue.
///
/// `NSManagedObjectContext.execute(_:)` returns at once with an ``NSAsynchronousFetchResult``, and calls the completion block on
/// the context's queue when the results are there, when the fetch failed or when it was cancelled: once, and never before
/// `execute(_:)` returned. SQLite stores in files in WAL mode are read through a connection of their own, so that neither the context's queue nor a save waits; other
/// stores are read on another thread under the coordinator's lock. A context that has a parent or is pinned to a query
/// generation fetches on its own queue, later.
///
/// The results are those at the time of the execution, with the context's unsaved changes at the time of completion.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
    // Nothing that is stored depends on `ResultType`: see `erased`.
    private var storedRequest = NSFetchRequest<NSFetchRequestResult>()
    private var storedBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock?

    /// How many results are expected: the total of the fetch's progress. 0, the default, where that is not known.
    open var estimatedResultCount = 0

    /// A request that fetches nothing: use ``init(fetchRequest:completionBlock:)``.
    public required init() {}

    /// A request that fetches what another one finds, in the background.
    ///
    /// - Parameters:
    ///   - request: what to fetch. Its settings count at the time of the execution.
    ///   - blk: called on the context's queue when the fetch is over.
    public convenience init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        self.init()
        storedRequest = request.erased
        affectedStores = request.affectedStores
        if let blk { storedBlock = { blk(respecialised($0)) } }
    }

    /// What is fetched.
    open var fetchRequest: NSFetchRequest<ResultType> { storedRequest.typed(as: ResultType.self) }

    /// What is called when the fetch is over.
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
