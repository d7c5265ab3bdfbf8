/// The objects that a save takes to the stores. Contexts make one of every save; stores of a program's own receive it.
///
/// Used on the queue of the context that saves, as its objects are.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// The new objects.
    public private(set) final var insertedObjects: Set<NSManagedObject>?
    /// The saved objects that were changed.
    public private(set) final var updatedObjects: Set<NSManagedObject>?
    /// The saved objects that were deleted.
    public private(set) final var deletedObjects: Set<NSManagedObject>?
    /// The objects that must not have changed: see `NSManagedObjectContext.detectConflicts(for:)`.
    public private(set) final var lockedObjects: Set<NSManagedObject>?

    /// A request that saves these objects; `nil` means none.
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

    /// A request that saves nothing.
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
