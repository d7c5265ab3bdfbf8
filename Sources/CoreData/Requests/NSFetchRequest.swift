import Foundation
import ModelFiles

/// A query for objects, with a condition, an order and a result form.
///
/// `ResultType` is the element type of `fetch(_:)`: a subclass of `NSManagedObject`, `NSManagedObjectID`,
/// `NSDictionary` or `NSNumber`, in agreement with `resultType`. No value of that type is stored, so a typed request
/// is also an erased one (``erased``). A request is used on the queue that created it, and may be executed
/// repeatedly.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
    /// The entity as set, or as a context resolved it from `entityName`.
    private var entityDescription: NSEntityDescription?
    private var requestedEntityName: String?

    /// Creates a request without an entity. Set `entity` before it is executed.
    public required init() {}

    /// Creates a request for the named entity in the model of the executing context.
    public convenience init(entityName: String) {
        self.init()
        requestedEntityName = entityName
    }

    /// Copies a fetch request template and replaces its variables by values. Methods of generated classes call this.
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - entity: an entity of the template's model.
    ///   - variables: the values by variable name, without `$`; `NSNull` means `nil`.
    /// - Precondition: the model has a fetch request of that name.
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

    /// The entity to fetch. `nil` for a request created with `init(entityName:)`, until a context has executed it.
    open var entity: NSEntityDescription? {
        get { entityDescription }
        set {
            entityDescription = newValue
            requestedEntityName = newValue?.name
        }
    }

    /// The name of the entity to fetch.
    open var entityName: String? { entityDescription?.name ?? requestedEntityName }

    /// The stores to search; `nil`, the default, means every store that has the entity.
    open override var affectedStores: [NSPersistentStore]? {
        get { super.affectedStores }
        set { super.affectedStores = newValue }
    }

    /// True if objects of subentities are found too. `true` by default.
    open var includesSubentities = true

    /// The condition for the objects; `nil` means all.
    open var predicate: NSPredicate?

    /// The order of the results. `nil` or empty leaves the order to the store.
    open var sortDescriptors: [NSSortDescriptor]?

    /// Maximum number of results; 0, the default, means no limit.
    open var fetchLimit = 0

    /// Number of leading results to skip.
    open var fetchOffset = 0

    /// Number of rows to read at a time when objects are accessed; 0, the default, reads all rows at once.
    ///
    /// All objects of the result are faults. Accessing one reads the rows of its batch with one query.
    open var fetchBatchSize = 0

    /// The form of the results. Managed objects by default.
    open var resultType: NSFetchRequestResultType = .managedObjectResultType

    /// True if unsaved changes of the context are included: matching new and changed objects are added, and objects
    /// that no longer match are removed. `true` by default. Dictionaries always come only from the store.
    open var includesPendingChanges = true

    /// True if rows are read with the keys. If `false`, each object reads its row at first access.
    open var includesPropertyValues = true

    /// True if objects are returned as faults. Such a fault already has its row: firing it needs no query.
    open var returnsObjectsAsFaults = true

    /// True if objects already in the context get the fetched values. `false` by default.
    open var shouldRefreshRefetchedObjects = false

    /// Key paths of relationships to prefetch, with one query per step.
    open var relationshipKeyPathsForPrefetching: [String]?

    /// The properties in dictionary results: names, key paths over to-one relationships, or property descriptions.
    /// `nil` means all attributes and to-one relationships.
    open var propertiesToFetch: [Any]?

    /// True if equal dictionaries are returned once. Requires `propertiesToFetch`.
    open var returnsDistinctResults = false

    /// The properties by which dictionary results are grouped.
    open var propertiesToGroupBy: [Any]?

    /// The condition for groups. Requires `propertiesToGroupBy`.
    open var havingPredicate: NSPredicate?

    /// Unknown parts of the request in its model file, kept to be written back with the model.
    final var unknownParts = UnknownParts()

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSFetchRequest<ResultType> else { return result }
        copy.takeOver(erased)
        return copy
    }

    /// Copies all settings of `other` to this request.
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

/// A fetch request of any result type, used to recognise one among other requests.
protocol ErasableFetchRequest: NSPersistentStoreRequest {
    var erased: NSFetchRequest<NSFetchRequestResult> { get }
}

extension NSFetchRequest: ErasableFetchRequest {
    /// The same request, not a copy, without its result type, like `as! NSFetchRequest<NSFetchRequestResult>` on
    /// Apple's systems. Swift stops the program at such a cast between two result types.
    public var erased: NSFetchRequest<NSFetchRequestResult> { respecialised(self) }

    /// The same request, not a copy, with another result type. Nothing is checked: the results must be of that type.
    ///
    /// - Parameter type: a class of managed objects, `NSManagedObjectID`, `NSDictionary` or `NSNumber`.
    public func typed<Other: NSFetchRequestResult>(as type: Other.Type) -> NSFetchRequest<Other> {
        respecialised(self)
    }

    /// A copy without its result type. The copy has the exact class of the original, so a cast cannot do this.
    var erasedCopy: NSFetchRequest<NSFetchRequestResult> { (copy() as? any ErasableFetchRequest)?.erased ?? erased }
}
