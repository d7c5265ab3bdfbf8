import Foundation

/// What a batch insertion answers.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it succeeded, as a Bool.
    case statusOnly = 0
    /// The IDs of the rows, as `[NSManagedObjectID]`: the new ones, and those that a merge policy changed.
    case objectIDs = 1
    /// How many rows were inserted or changed by a merge policy, as an Int.
    case count = 2
}

/// Inserts rows into a store, in one transaction, without making objects of them.
///
/// Attributes that are not given have their default values, unknown keys are left alone, and a required attribute without a
/// value is error 1570; nothing else is validated. A to-one relationship takes a saved object or its ID. Where a row has the unique
/// values of another one, the context's merge policy says what becomes of it: the error policy fails with 133021 and inserts
/// nothing, object trump writes the given values into the row that is there, overwrite writes all of them, store trump and
/// rollback leave that row as it is.
///
/// Contexts hear nothing of it: merge the IDs with `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. The
/// history gets a transaction. Memory does not grow with the number of rows, but for IDs that are asked for.
///
/// Belongs to the queue that made it, as every request does.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    private var knownEntity: NSEntityDescription?
    private var requestedName = ""

    /// The entity's name.
    open var entityName: String { knownEntity?.name ?? requestedName }

    /// The entity; `nil` for a request made with a name, until a context executed it.
    open var entity: NSEntityDescription? { knownEntity }

    /// The values of each row by the names of its properties.
    open var objectsToInsert: [[String: Any]]?

    /// Fills in the values of the next row and returns `false`, or returns `true` when there are no more. Called on the thread
    /// of the execution, while the store is locked. The dictionary is empty each time, and used again.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?

    /// Fills in the next row by an object of the entity's class that no context has, and returns `false`, or returns `true`
    /// when there are no more. Called on the thread of the execution, while the store is locked.
    ///
    /// Attributes of the object count; its relationships do not. It may be used again: do not keep it. Where a row with the
    /// same unique values is there already and the merge policy lets the request win, values that are those of a new object
    /// leave that row's alone: say in a dictionary what shall be written even if it is a default value.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?

    /// What to answer; the status only by default.
    open var resultType = NSBatchInsertRequestResultType.statusOnly

    /// A request without an entity; executing it is error 134060.
    public required init() {}

    /// Inserts a row for each of `dictionaries`, values by the names of properties, into the entity of that name.
    public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.init()
        requestedName = entityName
        objectsToInsert = dictionaries
    }

    /// Inserts a row for each of `dictionaries`, values by the names of properties, into `entity`.
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

    /// Remembers which entity the name means in the model of the executing context.
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

/// The answer to a batch insertion. Immutable, safe on any thread.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// By `resultType`: a Bool, an Int, or `[NSManagedObjectID]`.
    public let result: Any?
    /// What `result` is.
    public let resultType: NSBatchInsertRequestResultType

    init(_ result: Any?, type: NSBatchInsertRequestResultType) {
        self.result = result
        resultType = type
    }
}
