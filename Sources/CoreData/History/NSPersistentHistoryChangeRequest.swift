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

/// Asks for the history of the stores that keep one.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// Where the wanted part of the history begins.
    enum Start {
        case token(NSPersistentHistoryToken?)
        case date(Date)
    }

    private(set) var start = Start.token(nil)

    /// What to give back; transactions with their changes by default.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges

    /// The place after which the wanted transactions lie, if the request was made with one.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = start { return token }
        return nil
    }

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

    /// A question to the stores, which writes nothing.
    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSPersistentHistoryChangeRequest else { return result }
        copy.start = start
        copy.resultType = resultType
        return copy
    }
}

/// The answer to a history request.
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
