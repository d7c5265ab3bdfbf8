import Foundation

/// What a batch deletion answers.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it succeeded, as a Bool.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted rows, as `[NSManagedObjectID]`: with those that delete rules took along.
    case resultTypeObjectIDs = 1
    /// How many rows were deleted, as an Int: with those that delete rules took along.
    case resultTypeCount = 2
}

/// Deletes rows in the stores, in one transaction each, without making objects of them.
///
/// Delete rules apply: cascades are followed, references to deleted rows become nil, and what Deny forbids is error 1600.
/// No object is validated and no method of an object is called. A row that would lose a to-one relationship that is not
/// optional is error 1570. Contexts hear nothing of it: merge the IDs with
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. The history gets a transaction.
///
/// Belongs to the queue that made it, as every request does.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private var storedRequest = NSFetchRequest<NSFetchRequestResult>()
    /// What to delete, where it was given by IDs.
    private(set) final var objectIDs: [NSManagedObjectID]?

    /// What to answer; the status only by default.
    open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

    /// A request without rows; executing it is error 134060.
    public required init() {}

    /// Deletes what `fetch` finds: entity, predicate, subentities and, with the order, limit and offset count. Unsaved changes
    /// do not.
    ///
    /// - Parameter fetch: copied. Of any result type: no cast is needed.
    public convenience init<Result: NSFetchRequestResult>(fetchRequest fetch: NSFetchRequest<Result>) {
        self.init()
        takeOver(fetch)
    }

    /// Deletes what `fetch` finds, as the initialiser for requests of any result type does, where the call names no such type:
    /// `NSBatchDeleteRequest(fetchRequest: .init(entityName: "Team"))`.
    ///
    /// - Parameter fetch: copied.
    public convenience init(fetchRequest fetch: NSFetchRequest<NSFetchRequestResult>) {
        self.init()
        takeOver(fetch)
    }

    /// Deletes the rows of `objects`.
    ///
    /// - Parameter objects: permanent IDs, all of one entity; executing a request with others is error 134060.
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        self.init()
        objectIDs = objects
        if let entity = objects.first?.entity { storedRequest.entity = entity }
        storedRequest.predicate = NSPredicate(format: "SELF IN %@", objects as NSArray)
    }

    private func takeOver(_ fetch: some ErasableFetchRequest) {
        guard let copy = fetch.copy() as? any ErasableFetchRequest else { return }
        storedRequest = copy.erased
        affectedStores = fetch.affectedStores
    }

    /// What is deleted: a copy of what the request was made with.
    open var fetchRequest: NSFetchRequest<NSFetchRequestResult> {
        (storedRequest.copy() as? any ErasableFetchRequest)?.erased ?? storedRequest
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSBatchDeleteRequest else { return result }
        copy.storedRequest = fetchRequest
        copy.objectIDs = objectIDs
        copy.resultType = resultType
        return copy
    }
}

/// The answer to a batch deletion. Immutable, safe on any thread.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// By `resultType`: a Bool, an Int, or `[NSManagedObjectID]`.
    public let result: Any?
    /// What `result` is.
    public let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any?, type: NSBatchDeleteRequestResultType) {
        self.result = result
        resultType = type
    }
}
