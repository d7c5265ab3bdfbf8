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
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
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

    override class var hasOperations: Bool { true }
    override var operations: any StoreOperations { rows }

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

    /// Reads the metadata of the store at `url` without a coordinator. By default they are not to be had that way.
    ///
    /// - Throws: 134000 where a subclass does not override it.
    open override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw Self.lacks("metadataForPersistentStore(with:)")
    }

    /// Writes the metadata of the store at `url` without a coordinator.
    ///
    /// - Throws: as above.
    open override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw Self.lacks("setMetadata(_:forPersistentStoreAt:)")
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
    /// - Throws: where the row is gone, or cannot be read.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode { throw Swift.type(of: self).lacks("newValuesForObject(with:with:)") }

    /// The destinations of a relationship of a row. Subclasses must override it.
    ///
    /// - Returns: of a to-one relationship an ID or `NSNull`; of a to-many one an array of IDs, in its order if it has one, or a
    ///   set.
    /// - Throws: where the row is gone, or cannot be read.
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

    private class func lacks(_ member: String) -> NSError {
        CoreDataError.make(134000, "The store class \(self) must override \(member).")
    }

    // MARK: IDs

    /// The ID of the row that a reference names: equal for equal references of one hierarchy of entities.
    ///
    /// - Parameters:
    ///   - entity: the row's own entity, of the coordinator's model.
    ///   - data: a number, a text, or any other value that is hashable and has a description of its own.
    public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        let number = reference.references?.number(for: data, root: entity.rootName ?? "")
        return NSManagedObjectID(
            entity: entity, reference: number ?? (data as? NSNumber)?.int64Value ?? 0, store: self)
    }

    /// What names the row of an ID in the store.
    ///
    /// - Precondition: the ID was made by this store.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
        precondition(
            !objectID.isTemporaryID && objectID.storeIdentifier == identifier,
            "Cannot retrieve referenceObject from an objectID that was not created by this store: \(objectID)")
        let number = objectID.rowKey?.reference ?? 0
        return reference.references?.reference(of: number, root: objectID.entity.rootName ?? "")
            ?? NSNumber(value: number)
    }

    /// A row that was not met yet may be there: digits name it by a number, anything else by a text.
    override func number(ofReference text: String, root: String) -> Int64? {
        if let known = reference.references?.number(of: text, root: root) { return known }
        return reference.references?.number(for: Int64(text).map { NSNumber(value: $0) } ?? text as Any, root: root)
    }

    // MARK: Joining a coordinator

    override func prepare() throws {
        StoreMetadata.complete(self) { "\(Swift.type(of: self).identifierForNewStore(at: url ?? .memoryPlace))" }
        metadataIsDirty = false
        if let model = persistentStoreCoordinator?.managedObjectModel { rows.prepare(for: model) }
    }

    func didSave() { metadataIsDirty = false }
}
