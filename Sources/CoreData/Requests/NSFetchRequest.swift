import Foundation
import ModelFiles

/// Which objects to find, in which order, and in which form to give them.
///
/// `ResultType` says what `fetch(_:)` returns: a subclass of `NSManagedObject`, `NSManagedObjectID`, `NSDictionary` or
/// `NSNumber`, in agreement with `resultType`. Nothing of it is stored, so a typed request is also an erased one
/// (``erased``). A request belongs to the queue that made it, and may be used again and again.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
    /// The entity as it was set, or as a context resolved it from `entityName`.
    private var entityDescription: NSEntityDescription?
    private var requestedEntityName: String?

    /// A request without an entity: set `entity` before it is executed.
    public required init() {}

    /// A request for the objects of the entity of that name in the model of the context that executes it.
    public convenience init(entityName: String) {
        self.init()
        requestedEntityName = entityName
    }

    /// A copy of the fetch request of that name in the model of `entity`, its variables replaced by values: what the
    /// methods of generated classes make.
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - entity: an entity of the model that has it.
    ///   - variables: the values by the names of the variables, without `$`; `NSNull` stands for `nil`.
    /// - Precondition: The model has a fetch request of that name.
    public convenience init(
        template name: String, of entity: NSEntityDescription, substitutionVariables variables: [String: Any] = [:]
    ) {
        self.init()
        guard
            let template = entity.managedObjectModel.fetchRequestFromTemplate(
                withName: name, substitutionVariables: variables)
        else { preconditionFailure("The model has no fetch request template named '\(name)'.") }
        takeOver(template)
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The entity whose objects are wanted. `nil` for a request made with `init(entityName:)`, until a context
    /// executed it.
    open var entity: NSEntityDescription? {
        get { entityDescription }
        set {
            entityDescription = newValue
            requestedEntityName = newValue?.name
        }
    }

    /// The name of the entity whose objects are wanted.
    open var entityName: String? { entityDescription?.name ?? requestedEntityName }

    /// The stores to search; `nil`, the default, means every store that holds the entity.
    open override var affectedStores: [NSPersistentStore]? {
        get { super.affectedStores }
        set { super.affectedStores = newValue }
    }

    /// Whether objects of descendants of the entity are found too. `true` by default.
    open var includesSubentities = true

    /// Which objects to find; `nil` means all.
    open var predicate: NSPredicate?

    /// The order of the results; `nil` or empty leaves it to the store.
    open var sortDescriptors: [NSSortDescriptor]?

    /// The greatest number of results; 0, the default, means no limit.
    open var fetchLimit = 0

    /// How many of the first results to leave out.
    open var fetchOffset = 0

    /// How many rows to read at a time when objects are touched; 0, the default, reads all at once.
    ///
    /// The objects of the whole result are faults, and touching one reads the rows of its whole batch with one query.
    open var fetchBatchSize = 0

    /// The form of the results. Managed objects by default.
    open var resultType: NSFetchRequestResultType = .managedObjectResultType

    /// Whether the context's unsaved changes count: matching new and changed objects are added, others are taken out.
    /// `true` by default; dictionaries always come from the store alone.
    open var includesPendingChanges = true

    /// Whether rows are read with the keys. With `false` each object reads its row when it is first touched.
    open var includesPropertyValues = true

    /// Whether objects come as faults. Such a fault carries its row: touching it costs no further reading.
    open var returnsObjectsAsFaults = true

    /// Whether objects that are already in the context take over the values that the fetch read. `false` by default.
    open var shouldRefreshRefetchedObjects = false

    /// Key paths of relationships whose destinations are read at once, one query per step.
    open var relationshipKeyPathsForPrefetching: [String]?

    /// The properties of dictionary results: names, key paths over to-one relationships, or property descriptions.
    /// `nil` means all attributes and to-one relationships.
    open var propertiesToFetch: [Any]?

    /// Whether equal dictionaries are given once. Needs `propertiesToFetch`.
    open var returnsDistinctResults = false

    /// The properties by which dictionary results are grouped.
    open var propertiesToGroupBy: [Any]?

    /// Which groups to give. Needs `propertiesToGroupBy`.
    open var havingPredicate: NSPredicate?

    /// What the file of the request's model said here that is not known; it is written back with the model.
    final var unknownParts = UnknownParts()

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSFetchRequest<ResultType> else { return result }
        copy.takeOver(erased)
        return copy
    }

    /// Makes everything that is asked for what `other` asks for.
    private func takeOver(_ other: NSFetchRequest<NSFetchRequestResult>) {
        entityDescription = other.entityDescription
        requestedEntityName = other.requestedEntityName
        includesSubentities = other.includesSubentities
        predicate = other.predicate
        sortDescriptors = other.sortDescriptors
        fetchLimit = other.fetchLimit
        fetchOffset = other.fetchOffset
        fetchBatchSize = other.fetchBatchSize
        resultType = other.resultType
        includesPendingChanges = other.includesPendingChanges
        includesPropertyValues = other.includesPropertyValues
        returnsObjectsAsFaults = other.returnsObjectsAsFaults
        shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
        relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
        propertiesToFetch = other.propertiesToFetch
        returnsDistinctResults = other.returnsDistinctResults
        propertiesToGroupBy = other.propertiesToGroupBy
        havingPredicate = other.havingPredicate
        unknownParts = other.unknownParts
    }

    open override var description: String {
        let sort = sortDescriptors.map { "\($0)" } ?? "(null)"
        return "<NSFetchRequest> (entity: \(entityName ?? "(null)"); predicate: (\(predicate.map { "\($0)" } ?? "")); "
            + "sortDescriptors: \(sort); limit: \(fetchLimit); offset: \(fetchOffset); type: \(resultType.rawValue))"
    }
}

/// A fetch request of any result type, for finding one among other requests.
protocol ErasableFetchRequest: NSPersistentStoreRequest {
    var erased: NSFetchRequest<NSFetchRequestResult> { get }
}

extension NSFetchRequest: ErasableFetchRequest {
    /// The same request, not a copy, seen without its result type: what `as! NSFetchRequest<NSFetchRequestResult>` gives on Apple's
    /// systems. Swift stops a program at such a cast between two result types.
    public var erased: NSFetchRequest<NSFetchRequestResult> { respecialised(self) }

    /// The same request, not a copy, seen as one with another result type. Nothing is checked: what it finds must be of that type.
    ///
    /// - Parameter type: a class of managed objects, `NSManagedObjectID`, `NSDictionary` or `NSNumber`.
    public func typed<Other: NSFetchRequestResult>(as type: Other.Type) -> NSFetchRequest<Other> {
        respecialised(self)
    }

    /// A copy, seen without its result type: the copy has the exact class of the original, so no cast leads there.
    var erasedCopy: NSFetchRequest<NSFetchRequestResult> { (copy() as? any ErasableFetchRequest)?.erased ?? erased }
}
