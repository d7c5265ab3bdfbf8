import Foundation

/// What a history request gives back.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether the request could be carried out.
    case statusOnly = 0
    /// The IDs of the changed objects, each once.
    case objectIDs = 1
    /// How many transactions there are.
    case count = 2
    /// Transactions without their changes.
    case transactionsOnly = 3
    /// The changes of all transactions.
    case changesOnly = 4
    /// Transactions with their changes.
    case transactionsAndChanges = 5
}

/// Asks for the history of the stores that keep one, or removes the beginning of it.
///
/// A context carries it out: `context.execute(request) as? NSPersistentHistoryResult`. That throws 134091 where none of the
/// stores keeps a history. A token (or a transaction) before which history was removed gives 134301
/// (`NSPersistentHistoryTokenExpiredError`): forget it, read the stores anew, and go on from their
/// `currentPersistentHistoryToken(fromStores:)`.
///
/// Belongs to the queue that made it, as every request does.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// Where the wanted part of the history begins, or the part to be removed ends.
    enum Start {
        case token(NSPersistentHistoryToken?)
        case date(Date)
        /// One transaction: its number in the store with that UUID.
        case transaction(NSPersistentHistoryTransaction)
    }

    private(set) var start = Start.token(nil)
    /// Whether the transactions before `start` are removed.
    private(set) var removes = false

    /// What to give back; transactions with their changes by default.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges

    /// The place after which the wanted transactions lie, if the request was made with one.
    open var token: NSPersistentHistoryToken? {
        switch start {
        case .token(let token): token
        case .transaction(let transaction): transaction.token
        case .date: nil
        }
    }

    /// Which transactions, or which changes, are wanted of those that the request begins with: predicate, order, limit and
    /// offset count, nothing else. Its entity is ``NSPersistentHistoryTransaction/entityDescription(with:)`` or
    /// ``NSPersistentHistoryChange/entityDescription(with:)``. With a request for changes, transactions come with those
    /// of their changes that match, and others do not come. `nil` by default, for all of them.
    ///
    /// The store finds the place in the history; the request is then applied in memory to each transaction and change
    /// behind it, so give a token with a long history.
    open var fetchRequest: NSFetchRequest<NSFetchRequestResult>?

    /// All transactions after `token`, oldest first; with `nil` the whole history.
    public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        let request = Self()
        request.start = .token(token)
        return request
    }

    /// All transactions after `transaction`, oldest first; with `nil` the whole history.
    public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        fetchHistory(after: transaction?.token)
    }

    /// All transactions committed after `date`, oldest first.
    public class func fetchHistory(after date: Date) -> Self {
        let request = Self()
        request.start = .date(date)
        return request
    }

    /// The transactions, or changes, that `fetchRequest` finds in the whole history.
    ///
    /// - Parameter fetchRequest: See ``fetchRequest``; executing throws 134060 where it is for another entity.
    public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<NSFetchRequestResult>) -> Self {
        let request = Self()
        request.fetchRequest = fetchRequest
        return request
    }

    /// Removes the transactions before the last that `token` has seen, of each store that it knows; with `nil` none.
    /// The token itself stays valid.
    ///
    /// The result is `true`, or the number of removed transactions with the result type `count`. One transaction per
    /// store, which other writers wait for. Executing throws 513 for a store that is read-only.
    public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        removing(.token(token))
    }

    /// Removes the transactions that were committed before `date`, from the oldest on up to the first that was not: where
    /// a clock was set back, later ones stay. See ``deleteHistory(before:)-(NSPersistentHistoryToken?)`` for the result.
    public class func deleteHistory(before date: Date) -> Self { removing(.date(date)) }

    /// Removes the transactions before `transaction` from its store; with `nil` none.
    /// See ``deleteHistory(before:)-(NSPersistentHistoryToken?)`` for the result.
    public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        removing(transaction.map { .transaction($0) } ?? .token(nil))
    }

    private class func removing(_ start: Start) -> Self {
        let request = Self()
        request.start = start
        request.removes = true
        return request
    }

    /// What the request is for the stores. History has no type of its own.
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

/// The answer to a history request. Immutable, safe on any thread.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// By `resultType`: a Bool, an array of `NSManagedObjectID`, an Int, an array of `NSPersistentHistoryTransaction`, or
    /// an array of `NSPersistentHistoryChange`.
    public let result: Any?
    /// What `result` is.
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, type: NSPersistentHistoryResultType) {
        self.result = result
        resultType = type
    }
}
