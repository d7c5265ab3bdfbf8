/// The interface of a context to its objects. Apart from this, and from the class name in Apple's API, objects know
/// nothing of contexts.
///
/// All members are for the context's queue.
protocol ObjectOwner: AnyObject {
    // MARK: Looking up

    /// The context's object with that ID: the registered one, or a new fault. Reads no row.
    func ownedObject(_ id: NSManagedObjectID) -> NSManagedObject

    /// The context's object with that ID if it is registered. Reads no row and creates no object.
    func knownObject(_ id: NSManagedObjectID) -> NSManagedObject?

    /// The results of a fetched property.
    func objects(ofFetchedProperty number: Int, of object: NSManagedObject) -> [AnyObject]

    // MARK: Firing

    /// Reads the row of a fault.
    ///
    /// - Parameter place: The property that was read, if it is a single one.
    func fire(_ object: NSManagedObject, for place: EntityLayout.Place?)

    /// Reads the members of the to-many relationship `number`.
    func loadMembers(of object: NSManagedObject, number: Int)

    // MARK: Changes

    /// Call this before each change of an object's values.
    func noteChange(of object: NSManagedObject)

    /// Old destinations of relationships that hand-written accessors are changing.
    var manualChanges: [ManualChanges.Change: ManualChanges.Before] { get set }

    // MARK: Faults that could not be read

    /// The slots that were set in a fault that has no row.
    func slotsSet(inUnread object: NSManagedObject) -> [Int]

    /// The value that was set in a fault that has no row.
    func unreadValue(_ slot: Int, of object: NSManagedObject) -> SlotValue

    /// Sets a value in a fault that has no row.
    func setUnread(_ value: SlotValue, _ slot: Int, of object: NSManagedObject)

    /// Call this when all members of a to-many relationship were replaced by known objects.
    func noteReplacement(inUnread owner: NSManagedObject, number: Int)

    // MARK: Data that the context keeps for its objects

    /// The holder of values for the next validation, which takes it; `nil` during one.
    var validatedValue: ValidatedValue? { get set }

    /// Stops the program if queue checks are on and the current queue is not the context's.
    func requireQueue(_ access: @autoclosure () -> String)
}
