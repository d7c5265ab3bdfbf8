import Foundation

/// The form of a batch update's result.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// A Bool: true if the update succeeded.
    case statusOnlyResultType = 0
    /// The IDs of the updated rows, as `[NSManagedObjectID]`.
    case updatedObjectIDsResultType = 1
    /// The number of updated rows, as an Int.
    case updatedObjectsCountResultType = 2
}

/// Changes rows in the stores, in one transaction each, without creating objects.
///
/// Objects are not validated and their methods are not called. The store enforces unique constraints and updates
/// derived attributes. Row versions are incremented, so that saving objects read earlier causes a conflict. Contexts
/// are not notified: merge the IDs with `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`, or
/// refresh objects. The history records a transaction.
///
/// Used on the queue that created it, like every request.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private var knownEntity: NSEntityDescription?
    private var requestedName = ""

    /// The entity's name.
    open var entityName: String { knownEntity?.name ?? requestedName }

    /// The entity whose rows are updated.
    ///
    /// - Precondition: the request was created with the entity, or a context has executed it. Until then, a name does
    ///   not determine the model.
    open var entity: NSEntityDescription {
        guard let knownEntity else {
            preconditionFailure("The batch update of '\(requestedName)' has no entity before it is executed.")
        }
        return knownEntity
    }

    /// True if rows of subentities are updated too. `true` by default.
    open var includesSubentities = true

    /// The condition for the rows to update; `nil` means all rows.
    open var predicate: NSPredicate?

    /// The form of the result; status only by default.
    open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

    /// The new values, by name or description of attributes and to-one relationships. A value is a constant, `nil`
    /// (`NSNull`), an object or ID for a relationship, or an `NSExpression` that is evaluated for each row with its
    /// values before the update.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// A request without an entity; executing it is error 134060.
    public required init() {}

    /// A request for the rows of the entity of that name.
    public convenience init(entityName: String) {
        self.init()
        requestedName = entityName
    }

    /// A request for the rows of `entity`.
    public convenience init(entity: NSEntityDescription) {
        self.init()
        knownEntity = entity
    }

    /// Sets the entity that the name refers to in the model of the executing context.
    final func resolve(_ entity: NSEntityDescription) { if knownEntity == nil { knownEntity = entity } }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSBatchUpdateRequest else { return result }
        copy.knownEntity = knownEntity
        copy.requestedName = requestedName
        copy.includesSubentities = includesSubentities
        copy.predicate = predicate
        copy.resultType = resultType
        copy.propertiesToUpdate = propertiesToUpdate
        return copy
    }
}

/// The result of a batch update. Immutable, safe on any thread.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// The result, in the form of `resultType`: a Bool, an Int, or `[NSManagedObjectID]`.
    public let result: Any?
    /// The form of `result`.
    public let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any?, type: NSBatchUpdateRequestResultType) {
        self.result = result
        resultType = type
    }
}
