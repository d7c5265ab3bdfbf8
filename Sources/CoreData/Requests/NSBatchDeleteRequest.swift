import Foundation

/// The form of a batch deletion's result.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// A Bool: true if the deletion succeeded.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted rows, as `[NSManagedObjectID]`. Includes rows deleted by delete rules.
    case resultTypeObjectIDs = 1
    /// The number of deleted rows, as an Int. Includes rows deleted by delete rules.
    case resultTypeCount = 2
}

/// Deletes rows in the stores, in one transaction each, without creating objects.
///
/// Delete rules apply: Cascade deletes related rows, Nullify clears references to deleted rows, and a Deny rule that
/// matches is error 1600. Objects are not validated and their methods are not called. Clearing a required to-one
/// relationship is error 1570. Contexts are not notified: merge the IDs with
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. The history records a transaction.
///
/// Used on the queue that created it, like every request.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private var storedRequest = NSFetchRequest<NSFetchRequestResult>()
    /// The rows to delete, if given by IDs.
    private(set) final var objectIDs: [NSManagedObjectID]?

    /// The form of the result; status only by default.
    open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

    /// A request without rows; executing it is error 134060.
    public required init() {}

    /// Deletes the rows that `fetch` finds. Uses its entity, predicate, subentities, order, limit and offset. Ignores
    /// unsaved changes.
    ///
    /// - Parameter fetch: copied. May have any result type, so no cast is needed.
    public convenience init<Result: NSFetchRequestResult>(fetchRequest fetch: NSFetchRequest<Result>) {
        self.init()
        takeOver(fetch)
    }

    /// Deletes the rows that `fetch` finds. This overload serves calls that do not name a result type:
    /// `NSBatchDeleteRequest(fetchRequest: .init(entityName: "Team"))`.
    ///
    /// - Parameter fetch: copied.
    public convenience init(fetchRequest fetch: NSFetchRequest<NSFetchRequestResult>) {
        self.init()
        takeOver(fetch)
    }

    /// Deletes the rows of `objects`.
    ///
    /// - Parameter objects: permanent IDs of one entity. Executing a request with other IDs is error 134060.
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

    /// The request for the rows to delete: a copy of the request passed to the initialiser.
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

/// The result of a batch deletion. Immutable, safe on any thread.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// The result, in the form of `resultType`: a Bool, an Int, or `[NSManagedObjectID]`.
    public let result: Any?
    /// The form of `result`.
    public let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any?, type: NSBatchDeleteRequestResultType) {
        self.result = result
        resultType = type
    }
}
