/// The objects of a save. Contexts create one for every save; a program's own stores receive it.
///
/// Used on the queue of the saving context, like its objects.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// The new objects.
    public private(set) final var insertedObjects: Set<NSManagedObject>?
    /// The changed objects.
    public private(set) final var updatedObjects: Set<NSManagedObject>?
    /// The deleted objects.
    public private(set) final var deletedObjects: Set<NSManagedObject>?
    /// The objects that must be unchanged in the store: see `NSManagedObjectContext.detectConflicts(for:)`.
    public private(set) final var lockedObjects: Set<NSManagedObject>?

    /// Creates a request that saves these objects; `nil` means none.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    /// Creates a request that saves nothing.
    public required init() { super.init() }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let result = super.copy(with: zone)
        guard let copy = result as? NSSaveChangesRequest else { return result }
        copy.insertedObjects = insertedObjects
        copy.updatedObjects = updatedObjects
        copy.deletedObjects = deletedObjects
        copy.lockedObjects = lockedObjects
        return copy
    }
}
