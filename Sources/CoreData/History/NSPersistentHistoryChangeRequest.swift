import Foundation

/// The form of a history request's result.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// A Bool: true if the request was executed.
    case statusOnly = 0
    /// The IDs of the changed objects, each once.
    case objectIDs = 1
    /// The number of transactions.
    case count = 2
    /// Transactions without their changes.
    case transactionsOnly = 3
    /// The changes of all transactions.
    case changesOnly = 4
    /// Transactions with their changes.
    case transactionsAndChanges = 5
}

/// Fetches the history of stores that keep one, or removes its beginning.
///
/// A context executes the request: `context.execute(request) as? NSPersistentHistoryResult`. It throws 134091 if none
/// of the stores keeps a history. If history before the token (or transaction) was removed, it throws 134301
/// (`NSPersistentHistoryTokenExpiredError`): discard the token, read the stores again, and continue from their
/// `currentPersistentHistoryToken(fromStores:)`.
///
/// Used on the queue that created it, like every request.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// The start of the requested history, or the end of the history to remove.
    enum Start {
        case token(NSPersistentHistoryToken?)
        case date(Date)
        /// One transaction, as its number in the store with its UUID.
        case transaction(NSPersistentHistoryTransaction)
    }

    private(set) var start = Start.token(nil)
    /// True if the transactions before `start` are removed.
    private(set) var removes = false

    /// The form of the result; transactions with their changes by default.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges

    /// The position after which the requested transactions begin, if the request was created with a token.
    open var token: NSPersistentHistoryToken? {
        switch start {
        case .token(let token): token
        case .transaction(let transaction): transaction.token
        case .date: nil
        }
    }

    /// A filter for transactions or changes after the request's start. Only its predicate, order, limit and offset
    /// are used. Its entity is ``NSPersistentHistoryTransaction/entityDescription(with:)`` or
    /// ``NSPersistentHistoryChange/entityDescription(with:)``. A request for changes returns the transactions that
    /// have matching changes, with only these changes. `nil`, the default, means all.
    ///
    /// The store finds the start in the history. The filter is then applied in memory to each later transaction and
    /// change, so pass a token if the history is long.
    open var fetchRequest: NSFetchRequest<NSFetchRequestResult>?

    /// Fetches all transactions after `token`, oldest first; the whole history if `nil`.
    public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        let request = Self()
        request.start = .token(token)
        return request
    }

    /// Fetches all transactions after `transaction`, oldest first; the whole history if `nil`.
    public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        fetchHistory(after: transaction?.token)
    }

    /// Fetches all transactions committed after `date`, oldest first.
    public class func fetchHistory(after date: Date) -> Self {
        let request = Self()
        request.start = .date(date)
        return request
    }

    /// Fetches the transactions or changes that `fetchRequest` finds in the whole history.
    ///
    /// - Parameter fetchRequest: see ``fetchRequest``. Executing throws 134060 if it is for another entity.
    public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<NSFetchRequestResult>) -> Self {
        let request = Self()
        request.fetchRequest = fetchRequest
        return request
    }

    /// Removes, from each store in `token`, the transactions before the last one that the token covers; none if
    /// `nil`. The token remains valid.
    ///
    /// The result is `true`, or the number of removed transactions with the result type `count`. Uses one transaction
    /// per store, which blocks other writers. Executing throws 513 for a read-only store.
    public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        removing(.token(token))
    }

    /// Removes the oldest transactions up to the first that was not committed before `date`. If a clock was set back,
    /// later ones are kept. See ``deleteHistory(before:)-(NSPersistentHistoryToken?)`` for the result.
    public class func deleteHistory(before date: Date) -> Self { removing(.date(date)) }

    /// Removes the transactions before `transaction` from its store; none if `nil`. See
    /// ``deleteHistory(before:)-(NSPersistentHistoryToken?)`` for the result.
    public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        removing(transaction.map { .transaction($0) } ?? .token(nil))
    }

    private class func removing(_ start: Start) -> Self {
        let request = Self()
        request.start = start
        request.removes = true
        return request
    }

    /// The request type for stores; history requests have no type of their own.
    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSPersistentHistoryChangeRequest else { return result }
        copy.start = start
        copy.removes = removes
        copy.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<NSFetchRequestResult>
        copy.resultType = resultType
        return copy
    }
}

/// The result of a history request. Immutable, safe on any thread.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// The result, in the form of `resultType`: a Bool, an Int, or an array of `NSManagedObjectID`,
    /// `NSPersistentHistoryTransaction` or `NSPersistentHistoryChange`.
    public let result: Any?
    /// The form of `result`.
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, type: NSPersistentHistoryResultType) {
        self.result = result
        resultType = type
    }
}
