import Foundation

/// What a request asks of a store.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// A fetch.
    case fetchRequestType = 1
    /// A save.
    case saveRequestType = 2
    /// A batch insertion.
    case batchInsertRequestType = 5
    /// A batch update.
    case batchUpdateRequestType = 6
    /// A batch deletion.
    case batchDeleteRequestType = 7
}

/// A question to, or an order for, the stores of a coordinator. Abstract: use its subclasses.
///
/// A request belongs to the queue that made it.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores to ask; `nil` means every store that holds the entity.
    open var affectedStores: [NSPersistentStore]?

    /// A request for every store that holds the entity.
    public required override init() {}

    /// What kind of request this is.
    open var requestType: NSPersistentStoreRequestType {
        preconditionFailure("\(type(of: self)) is abstract: it has no request type")
    }

    /// A request of the same class with the same settings.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.affectedStores = affectedStores
        return copy
    }
}

/// The answer to a request that `NSManagedObjectContext.execute(_:)` carried out. Abstract: what was found or done is in the
/// members of its subclasses, such as ``NSBatchDeleteResult`` and ``NSPersistentHistoryResult``.
open class NSPersistentStoreResult: NSObject {
    override init() {}
}
