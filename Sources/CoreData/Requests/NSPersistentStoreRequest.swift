import Foundation

/// The kind of a store request.
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

/// A query or command for the stores of a coordinator. Abstract: use its subclasses.
///
/// A request is used on the queue that created it.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores to use; `nil` means every store that has the entity.
    open var affectedStores: [NSPersistentStore]?

    /// Creates a request for every store that has the entity.
    public required override init() {}

    /// The kind of this request.
    open var requestType: NSPersistentStoreRequestType {
        preconditionFailure("\(type(of: self)) is abstract: it has no request type")
    }

    /// A copy of the same class with the same settings.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.affectedStores = affectedStores
        return copy
    }
}

/// The result of a request executed with `NSManagedObjectContext.execute(_:)`. Abstract: subclasses such as
/// ``NSBatchDeleteResult`` and ``NSPersistentHistoryResult`` have the contents.
open class NSPersistentStoreResult: NSObject {
    override init() {}
}
