import Foundation

/// A store of rows in a program's own service or file format, read row by row as objects need them. Abstract:
/// subclasses implement reading and writing.
///
/// A subclass overrides ``loadMetadata()``, which sets `metadata` with at least type and UUID, ``execute(_:with:)``,
/// ``newValuesForObject(with:with:)``, ``newValue(forRelationship:forObjectWith:with:)`` and, if it can be saved to,
/// ``obtainPermanentIDs(for:)``. Register it with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`.
///
/// All members are called under the coordinator's lock, one at a time. Use the context that they get for
/// `object(with:)` only. It may differ from the fetching context, which makes its own objects from the results.
// SAFETY: used under the coordinator's lock only.
open class NSIncrementalStore: NSPersistentStore, RowStore, @unchecked Sendable {
    private lazy var rows = IncrementalRows(self)
    private var metadataIsDirty = false

    /// Stores the arguments and reads nothing.
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

    /// Reads the store's metadata, or creates that of a new store, and sets `metadata`: at least `NSStoreTypeKey` and
    /// `NSStoreUUIDKey`. Missing version hashes are filled in.
    ///
    /// - Throws: any error; the store is then not added.
    open override func loadMetadata() throws {
        StoreMetadata.complete(self) { "\(Swift.type(of: self).identifierForNewStore(at: url ?? .memoryPlace))" }
    }

    /// Returns the UUID of a new store. By default a new UUID.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Performs a fetch or a save. Subclasses must override it.
    ///
    /// - Parameters:
    ///   - request: an `NSFetchRequest<NSFetchRequestResult>`, whose predicate, order, limit and offset the store must
    ///     apply, or an `NSSaveChangesRequest`; one without any set saves the metadata only.
    ///   - context: makes objects from IDs (`object(with:)`).
    /// - Returns: for a fetch an array, depending on the result type: objects of `context` or their IDs for objects,
    ///   IDs, or one `NSNumber`; for a save an empty array.
    /// - Throws: the error with which the program's fetch or save then fails.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw Swift.type(of: self).lacks("execute(_:with:)")
    }

    /// Returns the values of a row. Subclasses must override it.
    ///
    /// - Throws: `NSManagedObjectReferentialIntegrityError` of the Cocoa domain (133000) if the row does not exist; its
    ///   object is then deleted. Any other error if it cannot be read now; the object is then unchanged and read again.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode { throw Swift.type(of: self).lacks("newValuesForObject(with:with:)") }

    /// Returns the destinations of a relationship of a row. Subclasses must override it.
    ///
    /// - Returns: for a to-one relationship an ID or `NSNull`; for a to-many one an array of IDs in order, or a set.
    /// - Throws: 133000 if the row does not exist, another error if it cannot be read now.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { throw Swift.type(of: self).lacks("newValue(forRelationship:forObjectWith:with:)") }

    /// Returns IDs for new objects in the same order, made with ``newObjectID(for:referenceObject:)``. Called before
    /// the save request. Subclasses that can be saved to must override it.
    ///
    /// - Throws: 134000 if not overridden.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw Swift.type(of: self).lacks("obtainPermanentIDs(for:)")
    }

    /// Called when a context has new objects for these rows: after fetches and saves, and at the end of events. Each
    /// context reports its own objects, so the store has to count: a row is in use until it was unregistered as often
    /// as registered. Does nothing by default.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context no longer has objects for these rows, because they were released or the context was reset
    /// or deallocated; in the last case a little later. Does nothing by default.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Returns a text that differs after each change of the store's rows, by any process and across launches. While it
    /// is the same, an `NSFetchedResultsController` reuses the list that it cached on disk under its cache name.
    ///
    /// An addition to Apple's API. Called under the coordinator's lock, several times for each fetch of a controller.
    /// With `nil`, the default, no list is cached across launches.
    ///
    /// - Throws: an error if it cannot be read; a controller's fetch then fails with it.
    open func changeToken() throws -> String? { nil }

    /// Returns a number that changes when others change the store's rows: rows read before may then be stale. Saves
    /// through this store need not change it.
    ///
    /// An addition to Apple's API. Called under the coordinator's lock in each fetch, and ten times a second if the
    /// store was added with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`, so it must be fast. When it
    /// differs, contexts that merge compare their rows with the store's, controllers fetch again, and
    /// `NSPersistentStoreRemoteChange` is posted. By default 0: others' changes then appear only when a program
    /// refreshes or merges them.
    ///
    /// - Throws: an error if it cannot be read; the fetch then fails with it, and the next fetch calls again.
    open func changeVersion() throws -> Int64 { 0 }

    // MARK: IDs

    /// Returns the ID of the row with a reference. Equal references of one entity hierarchy give equal IDs.
    ///
    /// - Parameters:
    ///   - entity: the row's own entity, in the coordinator's model.
    ///   - data: a number, a text, a UUID, data, or any other value with a distinct
    ///     ``NSPersistentStore/uriText(forReferenceObject:)``. References with equal texts, such as the number 42 and
    ///     the text `42`, identify the same row.
    /// - Precondition: `metadata` contains a UUID (`NSStoreUUIDKey`).
    public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        namedID(entity, data)
    }

    /// Returns the reference of an ID: the one that the store gave last for the row, or if it has not given one, the
    /// one from ``NSPersistentStore/referenceObject(forURIText:entity:)``.
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
