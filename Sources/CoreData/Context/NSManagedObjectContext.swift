import Foundation

/// A workspace: the objects that a task uses, and their changes until they are saved.
///
/// A context belongs to its queue. Use it and its objects only within `perform` and `performAndWait`; a context of the
/// main queue may also be used directly on the main thread. Its plain settings may be set on any thread, at any time.
///
/// The members are short and forward to collaborators with their own state: `registry` (one object for each row),
/// `changes` (unsaved changes), `events` (the end of each event), `faults`, `undoRecorder`, `savePipeline`,
/// `refresher`, `fetchPipeline` and `merger`.
// SAFETY: the settings have a lock; all else belongs to the context's queue.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // MARK: Collaborators

    final let queue: WorkQueue
    /// Raised when another context or process saved since the context last checked.
    final let othersSaved = AtomicFlag()
    // Collaborators that every object uses are created with the context.
    // SAFETY: set once during initialisation, so accesses do not overlap; a check would cost more than the access.
    final var registry: ObjectRegistry { @inline(__always) get { frequent.registry } }
    final var changes: ChangeTracker { @inline(__always) get { frequent.changes } }
    final var events: EventProcessor { @inline(__always) get { frequent.events } }
    final var faults: FaultFirer { @inline(__always) get { frequent.faults } }
    final var homes: ObjectHomes { @inline(__always) get { frequent.homes } }
    final var lifeCycle: ObjectLifeCycle { @inline(__always) get { frequent.lifeCycle } }
    @exclusivity(unchecked)
    private var frequent: FrequentCollaborators!
    final private(set) lazy var undoRecorder = UndoRecorder(context: self)
    final private(set) lazy var savePipeline = SavePipeline(context: self)
    final private(set) lazy var refresher = Refresher(context: self)
    final private(set) lazy var fetchPipeline = FetchPipeline(context: self)
    final private(set) lazy var merger = ChangeMerger(context: self)
    final private(set) lazy var generation = ContextGeneration(context: self)
    /// The source of rows and the destination of changes; `nil` without a coordinator.
    final private(set) var source: (any ContextSource)?
    /// The mergers of the contexts whose parent this one is.
    final let children = CommitObservers()
    final let legacyLock = NSRecursiveLock()
    private let settings = ContextSettings()
    /// True if the context has a parent.
    final private(set) var isNested = false
    /// The value that the next validation uses; `nil` during a validation.
    final var validatedValue: ValidatedValue?
    /// Old destinations of relationships that hand-written accessors are changing.
    final var manualChanges: [ManualChanges.Change: ManualChanges.Before] = [:]

    // MARK: Creating a context

    /// Creates a context of the main queue or with a private queue, without a coordinator.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        concurrencyType = ct
        queue = WorkQueue.make(isMain: ct == .mainQueueConcurrencyType)
        super.init()
        frequent = FrequentCollaborators(of: self)
        // Other threads use the merger, so it is created before another thread can know the context.
        _ = merger
    }

    /// Creates a context of the main queue or with a private queue, without a coordinator.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    /// Any thread may release a context last. Its objects belong to the queue and are released there.
    deinit {
        let remains = ContextRemains(frequent, settings.exchangeUndoManager(nil))
        frequent = nil
        queue.whenFree { remains.end() }
    }

    /// The kind of queue that the context works on.
    public final let concurrencyType: NSManagedObjectContextConcurrencyType

    /// The coordinator that the context reads and writes; that of the root context if the context has a parent.
    ///
    /// - Precondition: Neither a coordinator nor a parent was set before; `nil` cannot be set.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { source?.coordinator }
        set {
            guard let newValue else {
                preconditionFailure("Cannot set a context's persistentStoreCoordinator to nil.")
            }
            if source?.parent == nil, newValue === source?.coordinator { return }
            precondition(source == nil, "Context already has a coordinator;  cannot replace.")
            ManagedObjectClasses.use(newValue.managedObjectModel)
            source = CoordinatorSource(newValue, context: self)
            newValue.addCommitObserver(merger)
        }
    }

    /// The context that this one reads from and saves into; `nil` if it uses a coordinator directly.
    ///
    /// A child sees the parent's unsaved changes, and a save passes its own to the parent: nothing is written until the
    /// root context is saved. The child keeps its parent alive. The child's queue may wait for the parent's. Code on
    /// the parent's queue may also wait for the child, whose reads from the parent then run during that wait.
    ///
    /// - Precondition: Neither a parent nor a coordinator was set before, and the context has no objects.
    open var parent: NSManagedObjectContext? {
        get { source?.parent }
        set {
            if newValue === source?.parent { return }
            guard let newValue else { preconditionFailure("Cannot set a context's parent to nil.") }
            precondition(source == nil, "Context already has a coordinator;  cannot replace.")
            precondition(
                registry.isEmpty, "Cannot set the parent of a context that has objects. Set it first.")
            precondition(!newValue.stands(on: self), "A context cannot be its own ancestor.")
            source = ParentSource(newValue)
            isNested = true
            newValue.children.add(merger)
        }
    }

    // MARK: Settings. They may be set on any thread.

    /// A name for logs and for the history of a store.
    open var name: String? {
        get { settings.read { $0.name } }
        set { settings.change { $0.name = newValue } }
    }
    /// The author of the changes, for the history of a store.
    open var transactionAuthor: String? {
        get { settings.read { $0.transactionAuthor } }
        set { settings.change { $0.transactionAuthor = newValue } }
    }
    /// Values that a program keeps with the context. Any thread may use the dictionary.
    public final let userInfo: NSMutableDictionary = SharedDictionary()
    /// Records changes to be undone; `nil`, the default, records none. To replace a manager that has recorded changes,
    /// set it on the context's queue.
    open var undoManager: UndoManager? {
        get { settings.read { $0.undoManager } }
        set {
            undoManagerChanged(from: settings.exchangeUndoManager(newValue), to: newValue)
        }
    }
    /// The `NSMergePolicy` that resolves conflicts between a save and saves of other contexts or processes. The error
    /// policy by default.
    open var mergePolicy: Any {
        get { settings.read { $0.mergePolicy } }
        set { settings.change { $0.mergePolicy = newValue } }
    }
    /// True if deletions propagate at the end of each event, false if only in a save. `true` by default.
    open var propagatesDeletesAtEndOfEvent: Bool {
        get { settings.read { $0.propagatesDeletesAtEndOfEvent } }
        set { settings.change { $0.propagatesDeletesAtEndOfEvent = newValue } }
    }
    /// True if unchanged objects without other references stay in memory as long as the context. `false` by default:
    /// they are released from time to time.
    open var retainsRegisteredObjects: Bool {
        get { settings.read { $0.retainsRegisteredObjects } }
        set { settings.change { $0.retainsRegisteredObjects = newValue } }
    }
    /// True if a fault whose row no longer exists becomes a deleted object without values. `true` by default; otherwise
    /// firing it stops the program.
    open var shouldDeleteInaccessibleFaults: Bool {
        get { settings.read { $0.shouldDeleteInaccessibleFaults } }
        set { settings.change { $0.shouldDeleteInaccessibleFaults = newValue } }
    }
    /// The number of seconds for which values that were read may be used again. There is no row cache between contexts:
    /// a refresh always reads the store.
    open var stalenessInterval: TimeInterval {
        get { settings.read { $0.stalenessInterval } }
        set { settings.change { $0.stalenessInterval = newValue } }
    }
    /// True if the context merges saves of other contexts into the coordinator or the parent, and the parent's own
    /// saves and merges. `false` by default.
    open var automaticallyMergesChangesFromParent: Bool {
        get { merger.mergesAutomatically }
        set { merger.mergesAutomatically = newValue }
    }

    // MARK: Queue

    /// Runs `block` on the context's queue, later, and then processes the pending changes.
    ///
    /// The closure is not isolated to an actor, because it may run on another thread than the main one; captured values
    /// that are not `Sendable` cause a warning.
    @preconcurrency
    open func perform(_ block: @escaping @Sendable () -> Void) {
        queue.async {
            CurrentContext.entering(self) {
                block()
                self.processPendingChanges()
            }
        }
    }

    /// Runs `block` on the context's queue and waits for it: in place if the caller is already there.
    ///
    /// If threads wait for each other's contexts in a cycle, one of them runs its block inside the block of the thread
    /// that uses the context, while that thread waits.
    open func performAndWait<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try performAndWait(.asked, block)
    }

    /// - Parameter reason: the reason for waiting: the framework itself may be in the middle of other work.
    @inline(__always)
    final func performAndWait<Result, Failure: Error>(
        _ reason: QueueWaiter.Reason, _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try queue.sync(reason) { () throws(Failure) in try CurrentContext.entering(self, block) }
    }

    /// Runs `block` on the context's queue without blocking the caller's thread, and returns its result: in place if
    /// the caller is already there and `schedule` is `.immediate`. The closure is not isolated to an actor, as that of
    /// ``perform(_:)``.
    @preconcurrency
    nonisolated(nonsending) open func perform<Result, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if schedule == .immediate, isOnQueue { return try CurrentContext.entering(self, block) }
        let outcome: UncheckedSendable<Swift.Result<Result, Failure>> = await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: UncheckedSendable(WorkQueue.catching(block))) }
        }
        return try outcome.value.get()
    }

    // MARK: Objects

    /// Inserts a new object into the context, with a temporary ID. Restores a deleted object of the context.
    open func insert(_ object: NSManagedObject) { lifeCycle.insert(object) }

    /// Marks an object for deletion by the next save. An object that was never saved is forgotten.
    open func delete(_ object: NSManagedObject) { lifeCycle.delete(object) }

    /// The object of that ID, a fault if the context does not have it. Never reads, so the row may not exist.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        requireQueue("object(with:)")
        defer { registry.tellStores() }
        return registry.object(for: objectID)
    }

    /// The object of that ID if the context has it. Never reads.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        requireQueue("registeredObject(for:)")
        return registry.registered(objectID)
    }

    /// The object of that ID with its values.
    ///
    /// - Throws: 133000 if the row does not exist or the object is deleted; the store's errors.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try lifeCycle.existingObject(objectID)
    }

    /// Decides what happens to a fault whose row no longer exists.
    ///
    /// - Parameters:
    ///   - fault: the object without a row.
    ///   - oid: its ID.
    ///   - property: the property that was read or set; `nil` if the fault fires for no particular one.
    /// - Returns: `true` to make it a deleted object without values, `false` to stop the program.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    /// Gives new objects permanent IDs before they are saved. The IDs are reserved in the store at once.
    ///
    /// - Throws: 134030 without a coordinator, 513 if the store is read-only, and the store's errors.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        requireQueue("obtainPermanentIDs(for:)")
        var seen: Set<NSManagedObject> = []
        try savePipeline.obtainPermanentIDs(for: objects.filter { seen.insert($0).inserted })
    }

    /// Chooses the store in which a new object will be saved.
    ///
    /// - Precondition: The object was never saved.
    open func assign(_ object: Any, to store: NSPersistentStore) {
        requireQueue("assign(_:to:)")
        lifeCycle.assign(object, to: store)
    }

    /// Makes the next save fail, or consult the merge policy, if another context or process changed the object, even if
    /// this context did not.
    open func detectConflicts(for object: NSManagedObject) {
        requireQueue("detectConflicts(for:)")
        savePipeline.lock(object)
    }

    // MARK: State

    /// All objects in use that the context has in memory. O(objects).
    open var registeredObjects: Set<NSManagedObject> {
        requireQueue("registeredObjects")
        return Set(registry.all)
    }
    /// New objects, not saved yet.
    open var insertedObjects: Set<NSManagedObject> {
        requireQueue("insertedObjects")
        return changes.inserted.set
    }
    /// Saved objects that were changed.
    open var updatedObjects: Set<NSManagedObject> {
        requireQueue("updatedObjects")
        return changes.updated.set
    }
    /// Saved objects that were deleted. Objects whose deletion was merged are included until the event is processed; a
    /// save does not write them.
    open var deletedObjects: Set<NSManagedObject> {
        requireQueue("deletedObjects")
        return changes.allDeleted
    }
    /// True if there is anything to save.
    open var hasChanges: Bool {
        requireQueue("hasChanges")
        return changes.hasChanges
    }

    /// Ends the event: propagates deletions, registers undo, and posts objects-did-change. Called automatically at the
    /// end of the main queue's turn and of each `perform` block, and before each fetch and save.
    open func processPendingChanges() {
        requireQueue("processPendingChanges()")
        events.process(propagatesDeletes: propagatesDeletesAtEndOfEvent)
    }

    // MARK: Saving and undoing

    /// Validates all changes and writes them, in one transaction for each store; or passes them to the parent.
    ///
    /// - Throws: validation errors (1550–1690, several as 1560), 133020 for conflicts that the merge policy did not
    ///   resolve, 133010 for a relationship into another store, or the store's errors. Nothing was written then (with
    ///   several stores see 134040), and all changes are kept.
    open func save() throws { try savePipeline.save() }

    /// Drops all unsaved changes and the undo history.
    open func rollback() { refresher.rollback() }

    /// Forgets all objects. Objects that the program still holds lose their context; a notification has their IDs.
    open func reset() { refresher.reset() }

    /// Makes an object read its row again. With `true` its unsaved changes and its transient values stay on top of the
    /// new values; with `false` they are dropped. An object with nothing to keep becomes a fault.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        refresher.refresh([object], mergeChanges: flag)
    }

    /// Makes all objects read their rows again; unsaved changes stay on top of the new values. Objects without changes
    /// become faults, lose their transient values, and release the objects that they refer to, which frees memory.
    open func refreshAllObjects() {
        refresher.refresh(registry.refreshable, mergeChanges: true, keepsTransient: false)
    }

    /// Undoes the last group of changes.
    open func undo() {
        requireQueue("undo()")
        undoRecorder.undo()
    }

    /// Reverses the last undo.
    open func redo() {
        requireQueue("redo()")
        undoRecorder.redo()
    }

    // MARK: For other parts of the framework

    /// True if the caller may use the context here.
    final var isOnQueue: Bool { queue.isCurrent }
    final var isOnMainQueue: Bool { queue.isMain }

    /// Stops the program or reports the mistake, depending on ``ConcurrencyChecking``, if the caller is not on the
    /// context's queue.
    ///
    /// - Parameter access: the caller's action; evaluated only for the message.
    @inline(__always)
    package final func requireQueue(_ access: @autoclosure () -> String) {
        if ConcurrencyChecking.isOn, !isOnQueue, QueueWatchdog.isToBeTold(.useOffQueue) { refuse(access()) }
    }

    private func refuse(_ access: String) {
        let text = name.map { " named '\($0)'" } ?? ""
        let message =
            "A managed object context\(text) is used outside of its queue, by \(access). Wrap the use in perform(_:)."
        if let watch = queue.watch {
            QueueWatchdog.tell(message, [("Stack of the use", QueueWatchdog.stack), watch.side])
        }
        if ConcurrencyChecking.stops { preconditionFailure(message) }
    }

    /// The number of ancestors of this context.
    final var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

    /// The root context, which writes to the stores.
    final var root: NSManagedObjectContext { parent?.root ?? self }

    private func stands(on other: NSManagedObjectContext) -> Bool {
        self === other || parent?.stands(on: other) ?? false
    }

    /// Notes that unused objects may be stale, because another context or process saved, or the parent's objects
    /// changed. Called on any thread.
    final func noteChangesBeneath() { merger.objectsBeneathDidChange() }

    /// Tells the children that the context's objects changed: their next reads see the changes.
    final func tellChildrenOfEvent() {
        for child in children.live { child.objectsBeneathDidChange() }
    }

    /// Notifies the other children after the context saved, merged, or accepted a child's save. They read the context's
    /// values.
    final func tellChildren(_ changes: CommittedChanges, from source: NSManagedObjectContext) {
        let observers = children.live
        guard !observers.isEmpty, !changes.isEmpty else { return }
        var changes = changes
        changes.rows = []
        for child in observers { child.coordinatorDidCommit(changes, from: source) }
    }

    /// The ID of the same row with the store and entity of this stack.
    final func localID(_ id: NSManagedObjectID) -> NSManagedObjectID { source?.localID(id) ?? id }

    /// The class of an entity's objects.
    package final func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        lifeCycle.objectClass(of: entity)
    }

    /// The only entity of the context's model with that class.
    final func entity(for type: NSManagedObject.Type) -> NSEntityDescription { lifeCycle.entity(for: type) }

    /// Removes the objects from the context.
    final func letGo(_ objects: [NSManagedObject]) { lifeCycle.letGo(objects) }
}

/// The collaborators of a context that every object uses, created with it.
private struct FrequentCollaborators {
    let registry: ObjectRegistry
    let events: EventProcessor
    let changes: ChangeTracker
    let faults: FaultFirer
    let homes: ObjectHomes
    let lifeCycle: ObjectLifeCycle

    init(of context: NSManagedObjectContext) {
        events = EventProcessor(context: context)
        changes = ChangeTracker(context: context, events: events)
        faults = FaultFirer(context: context, changes: changes)
        homes = ObjectHomes(context: faults.handle)
        registry = ObjectRegistry(context: context, homes: homes)
        lifeCycle = ObjectLifeCycle(context: context, homes: homes, registry: registry, changes: changes)
    }
}

/// The objects of a deallocated context and the collaborators that hold them, until its queue processes them.
// SAFETY: created by the last owner, and then used only on the context's queue.
private final class ContextRemains: @unchecked Sendable {
    private var collaborators: FrequentCollaborators?
    private var undoManager: UndoManager?

    init(_ collaborators: FrequentCollaborators, _ undoManager: UndoManager?) {
        self.collaborators = collaborators
        self.undoManager = undoManager
    }

    /// Detaches all objects, and releases those that no one else holds.
    func end() {
        collaborators?.lifeCycle.abandonAll()
        undoManager = nil
        collaborators = nil
    }
}
