/// What objects ask of the context that they are in, and tell it. Beside this, and that Apple's API names the class, they know
/// nothing of contexts.
///
/// All of it is for the context's queue.
protocol ObjectOwner: AnyObject {
    // MARK: Looking up

    /// The context's object of that ID: the registered one, or a new fault. No reading.
    func ownedObject(_ id: NSManagedObjectID) -> NSManagedObject

    /// The context's object of that ID if it has one. No reading, no new object.
    func knownObject(_ id: NSManagedObjectID) -> NSManagedObject?

    /// What a fetched property finds.
    func objects(ofFetchedProperty number: Int, of object: NSManagedObject) -> [AnyObject]

    // MARK: Firing

    /// Reads the row of a fault.
    ///
    /// - Parameter place: The property that needs it, if it is one.
    func fire(_ object: NSManagedObject, for place: EntityLayout.Place?)

    /// Reads the members of the to-many relationship `number`.
    func loadMembers(of object: NSManagedObject, number: Int)

    // MARK: Changes

    /// To be called before each change of an object's values.
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

    /// All members of a to-many relationship were replaced by those that are known.
    func noteReplacement(inUnread owner: NSManagedObject, number: Int)

    // MARK: What the context keeps for its objects

    /// What the next validation of an object is done with; `nil` during one.
    var validatedValue: ValidatedValue? { get set }

    /// Stops the program where queues are checked and this is not the context's.
    func requireQueue(_ access: @autoclosure () -> String)
}
