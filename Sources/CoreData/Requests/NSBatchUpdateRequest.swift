import Foundation

/// What a batch update answers.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it succeeded, as a Bool.
    case statusOnlyResultType = 0
    /// The IDs of the updated rows, as `[NSManagedObjectID]`.
    case updatedObjectIDsResultType = 1
    /// How many rows were updated, as an Int.
    case updatedObjectsCountResultType = 2
}

/// Changes rows in the stores, in one transaction each, without making objects of them.
///
/// Nothing is validated and no method of an object is called; unique constraints and derived attributes are kept by the
/// store. The rows' versions are raised, so that a save of what was read before meets a conflict. Contexts hear nothing of it:
/// merge the IDs with `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`, or refresh objects. The history gets
/// a transaction.
///
/// Belongs to the queue that made it, as every request does.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private var knownEntity: NSEntityDescription?
    private var requestedName = ""

    /// The entity's name.
    open var entityName: String { knownEntity?.name ?? requestedName }

    /// The entity whose rows are updated.
    ///
    /// - Precondition: The request was made with the entity, or a context has executed it: before that a name alone does not
    ///   say which model it is of.
    open var entity: NSEntityDescription {
        guard let knownEntity else {
            preconditionFailure("The batch update of '\(requestedName)' learns its entity when it is executed.")
        }
        return knownEntity
    }

    /// Whether rows of descendants of the entity are updated too. `true` by default.
    open var includesSubentities = true

    /// Which rows to update; `nil` means all.
    open var predicate: NSPredicate?

    /// What to answer; the status only by default.
    open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

    /// The new values: by the names of attributes and to-one relationships, or their descriptions. A value is a constant, `nil`
    /// (`NSNull`), an object or an ID for a relationship, or an `NSExpression` that is worked out for each row from the values
    /// before the update.
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

    /// Remembers which entity the name means in the model of the executing context.
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

/// The answer to a batch update. Immutable, safe on any thread.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// By `resultType`: a Bool, an Int, or `[NSManagedObjectID]`.
    public let result: Any?
    /// What `result` is.
    public let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any?, type: NSBatchUpdateRequestResultType) {
        self.result = result
        resultType = type
    }
}
