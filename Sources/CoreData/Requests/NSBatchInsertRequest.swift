import Foundation

/// The form of a batch insertion's result.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// A Bool: true if the insertion succeeded.
    case statusOnly = 0
    /// The IDs of the rows, as `[NSManagedObjectID]`: new rows, and rows changed by a merge policy.
    case objectIDs = 1
    /// The number of rows inserted, or changed by a merge policy, as an Int.
    case count = 2
}

/// Inserts rows into a store, in one transaction, without creating objects.
///
/// Missing attributes get their default values, unknown keys are ignored, and a required attribute without a value is
/// error 1570. Nothing else is validated. A to-one relationship takes a saved object or its ID. If a row has the
/// unique values of an existing row, the context's merge policy decides: the error policy fails with 133021 and
/// inserts nothing, object trump writes the given values into the existing row, overwrite writes all values, and
/// store trump and rollback leave the existing row unchanged.
///
/// Contexts are not notified: merge the IDs with `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
/// The history records a transaction. Memory does not grow with the number of rows, except for requested IDs.
///
/// Used on the queue that created it, like every request.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    private var knownEntity: NSEntityDescription?
    private var requestedName = ""

    /// The entity's name.
    open var entityName: String { knownEntity?.name ?? requestedName }

    /// The entity; `nil` for a request created with a name, until a context has executed it.
    open var entity: NSEntityDescription? { knownEntity }

    /// The values of each row, by property name.
    open var objectsToInsert: [[String: Any]]?

    /// Fills in the values of the next row and returns `false`, or returns `true` at the end. Called on the executing
    /// thread while the store is locked. The dictionary is empty at each call, and is reused.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?

    /// Fills in the next row through an object of the entity's class without a context, and returns `false`, or
    /// returns `true` at the end. Called on the executing thread while the store is locked.
    ///
    /// Only the object's attributes are used, not its relationships. The object may be reused: do not keep it. If a
    /// row with the same unique values exists and the merge policy lets the request win, values equal to a new
    /// object's values are not written. To write a default value, use a dictionary.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?

    /// The form of the result; status only by default.
    open var resultType = NSBatchInsertRequestResultType.statusOnly

    /// A request without an entity; executing it is error 134060.
    public required init() {}

    /// Inserts one row for each dictionary of property values into the named entity.
    public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.init()
        requestedName = entityName
        objectsToInsert = dictionaries
    }

    /// Inserts one row for each dictionary of property values into `entity`.
    public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        self.init()
        knownEntity = entity
        objectsToInsert = dictionaries
    }

    /// Inserts rows until `handler` returns `true`; see ``dictionaryHandler``.
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init()
        requestedName = entityName
        dictionaryHandler = handler
    }

    /// Inserts rows until `handler` returns `true`; see ``dictionaryHandler``.
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init()
        knownEntity = entity
        dictionaryHandler = handler
    }

    /// Inserts rows until `handler` returns `true`; see ``managedObjectHandler``.
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init()
        requestedName = entityName
        managedObjectHandler = handler
    }

    /// Inserts rows until `handler` returns `true`; see ``managedObjectHandler``.
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init()
        knownEntity = entity
        managedObjectHandler = handler
    }

    /// Sets the entity that the name refers to in the model of the executing context.
    final func resolve(_ entity: NSEntityDescription) { if knownEntity == nil { knownEntity = entity } }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSBatchInsertRequest else { return result }
        copy.knownEntity = knownEntity
        copy.requestedName = requestedName
        copy.objectsToInsert = objectsToInsert
        copy.dictionaryHandler = dictionaryHandler
        copy.managedObjectHandler = managedObjectHandler
        copy.resultType = resultType
        return copy
    }
}

/// The result of a batch insertion. Immutable, safe on any thread.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// The result, in the form of `resultType`: a Bool, an Int, or `[NSManagedObjectID]`.
    public let result: Any?
    /// The form of `result`.
    public let resultType: NSBatchInsertRequestResultType

    init(_ result: Any?, type: NSBatchInsertRequestResultType) {
        self.result = result
        resultType = type
    }
}
