import Foundation

/// A store whose rows live elsewhere, in a service or a file format of a program's own, and are read row by row as objects need
/// them. Abstract: a subclass says how.
///
/// A subclass overrides ``loadMetadata()``, which sets `metadata` with at least type and UUID, ``execute(_:with:)``,
/// ``newValuesForObject(with:with:)``, ``newValue(forRelationship:forObjectWith:with:)`` and, where it can be saved to,
/// ``obtainPermanentIDs(for:)``. It is registered with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`.
///
/// All members are called under the coordinator's lock, one at a time. The context that they are given is for
/// `object(with:)`: the context that asked may be another one, in which the results are made into objects.
// SAFETY: used under the coordinator's lock only.
open class NSIncrementalStore: NSPersistentStore, RowStore, @unchecked Sendable {
    private lazy var rows = IncrementalRows(self)
    private var metadataIsDirty = false

    /// Stores the arguments; reads nothing.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    open override var metadata: [String: Any]! {
        didSet {
            metadataIsDirty = true
            guard let told = metadata?[NSStoreUUIDKey] as? String, told != identifier else { return }
            identifier = told
        }
    }

    override var hasUnsavedMetadata: Bool { metadataIsDirty }

    package final var operations: any StoreOperations { rows }

    override var wantsObjects: Bool { true }

    override class func references(ofStore identifier: String) -> ReferenceTable? {
        ReferenceTable.shared(ofStore: identifier)
    }

    // MARK: For subclasses to override

    /// Reads the store's metadata, or makes those of a new store, and sets `metadata`: at least `NSStoreTypeKey` and
    /// `NSStoreUUIDKey`. Version hashes that are missing are filled in.
    ///
    /// - Throws: to refuse the store, which then is not added.
    open override func loadMetadata() throws {
        StoreMetadata.complete(self) { "\(Swift.type(of: self).identifierForNewStore(at: url ?? .memoryPlace))" }
    }

    /// The UUID of a new store. By default a fresh one.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Carries out a fetch or a save. Subclasses must override it.
    ///
    /// - Parameters:
    ///   - request: an `NSFetchRequest<NSFetchRequestResult>`, whose predicate, order, limit and offset the store answers for, or an
    ///     `NSSaveChangesRequest`; one without any set saves the metadata only.
    ///   - context: makes objects of IDs.
    /// - Returns: for a fetch an array of what its result type says: objects of `context` or IDs for objects, IDs, or one
    ///   `NSNumber`; for a save an empty array.
    /// - Throws: what the fetch or the save of the program then throws.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw Swift.type(of: self).lacks("execute(_:with:)")
    }

    /// The values of a row. Subclasses must override it.
    ///
    /// - Throws: `NSManagedObjectReferentialIntegrityError` of the Cocoa domain (133000) where the row is gone, which makes its
    ///   object a deleted one; any other error where it cannot be read now: then the object stays as it is, and is read again.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode { throw Swift.type(of: self).lacks("newValuesForObject(with:with:)") }

    /// The destinations of a relationship of a row. Subclasses must override it.
    ///
    /// - Returns: of a to-one relationship an ID or `NSNull`; of a to-many one an array of IDs, in its order if it has one, or a
    ///   set.
    /// - Throws: 133000 where the row is gone, another error where it cannot be read now.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { throw Swift.type(of: self).lacks("newValue(forRelationship:forObjectWith:with:)") }

    /// IDs for new objects, in the same order, made with ``newObjectID(for:referenceObject:)``. Called before the save request.
    /// Subclasses that can be saved to must override it.
    ///
    /// - Throws: 134000 where it is not overridden.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw Swift.type(of: self).lacks("obtainPermanentIDs(for:)")
    }

    /// For a store to know which rows contexts use: a context has an object for each of these rows from now on. Called after
    /// fetches and saves and in the end of events, with all rows that came since. Each context tells of its own objects, so
    /// that a store counts: a row is in use until as many have told that they do not have it any more. Does nothing by
    /// default.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// For a store to know which rows contexts do not use any more: a context let their objects go, or was reset, or went
    /// away itself, which is told a little later. Does nothing by default.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// A text that differs after each change of the store's rows, also by another process, and at later launches too: a list that
    /// an `NSFetchedResultsController` keeps on disk under its cache name is used again while the text is the same.
    ///
    /// An addition to Apple's API. Asked under the coordinator's lock, some times for each fetch of a controller. `nil`, the
    /// default, keeps no list for later launches.
    ///
    /// - Throws: what keeps it from being told: a controller's fetch throws it too.
    open func changeToken() throws -> String? { nil }

    /// A number that differs once others changed the store's rows: what was read before may be stale. Saves of this store need not
    /// change it.
    ///
    /// An addition to Apple's API. Asked under the coordinator's lock in each fetch, and of a store that was added with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey` ten times a second, so that it must not take long. When it differs,
    /// contexts that merge compare what they hold with its rows, controllers fetch again, and
    /// `NSPersistentStoreRemoteChange` is posted. 0 by default, so that others' changes show where a program refreshes or merges them.
    ///
    /// - Throws: what keeps it from being told: a fetch throws it too; the next one asks again.
    open func changeVersion() throws -> Int64 { 0 }

    // MARK: IDs

    /// The ID of the row that a reference names: equal for equal references of one hierarchy of entities.
    ///
    /// - Parameters:
    ///   - entity: the row's own entity, of the coordinator's model.
    ///   - data: a number, a text, a UUID, data, or any other value that ``NSPersistentStore/uriText(forReferenceObject:)`` gives a text of its own:
    ///     two references with one text, such as the number 42 and the text `42`, name one row.
    /// - Precondition: `metadata` have a UUID (`NSStoreUUIDKey`) already.
    public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        namedID(entity, data)
    }

    /// What names the row of an ID in the store: what the store gave last to name it, or where it has not yet, what
    /// ``NSPersistentStore/referenceObject(forURIText:entity:)`` read.
    ///
    /// - Precondition: the ID was made by this store.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
        precondition(
            !objectID.isTemporaryID && objectID.storeIdentifier == identifier,
            "Cannot retrieve referenceObject from an objectID that was not created by this store: \(objectID)")
        return reference(of: objectID)
    }

    // MARK: Joining a coordinator

    override func prepare() throws {
        StoreMetadata.complete(self) { "\(Swift.type(of: self).identifierForNewStore(at: url ?? .memoryPlace))" }
        metadataIsDirty = false
        if let model = persistentStoreCoordinator?.managedObjectModel { rows.prepare(for: model) }
    }

    func didSave() { metadataIsDirty = false }
}
