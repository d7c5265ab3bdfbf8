import Foundation

/// A workspace: the objects that a task works with, and their changes until they are saved.
///
/// A context belongs to its queue. Use it, and the objects that it hands out, only within `perform` and `performAndWait`;
/// one of the main queue may be used directly on the main thread. Its plain settings may be set from anywhere, at any
/// time.
///
/// The members are short and forward to collaborators with a state of their own: `registry` (one object for each row),
/// `changes` (what is not saved), `events` (what happens at the end of each event), `faults`, `undoRecorder`,
/// `savePipeline`, `refresher`, `fetchPipeline` and `merger`.
// SAFETY: all but the settings, which have a lock, belongs to the context's queue.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // MARK: Collaborators

    final let queue: WorkQueue
    /// Up when another context or process saved since the context last looked.
    final let othersSaved = AtomicFlag()
    // Those that every object asks for are there from the start.
    // SAFETY: set once while the context is made, so that no accesses overlap; looking would cost more than the asking.
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
    /// Where rows come from and changes go to; `nil` without a coordinator.
    final private(set) var source: (any ContextSource)?
    /// The mergers of the contexts whose parent this one is.
    final let children = CommitObservers()
    final let legacyLock = NSRecursiveLock()
    private let settings = ContextSettings()
    /// Whether the context has a parent.
    final private(set) var isNested = false
    /// What the next validation of an object is done with; `nil` during one.
    final var validatedValue: ValidatedValue?
    /// Old destinations of relationships that hand-written accessors are changing.
    final var manualChanges: [ManualChanges.Change: ManualChanges.Before] = [:]

    // MARK: Making a context

    /// A context of the main queue or of a queue of its own, without a coordinator yet.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        concurrencyType = ct
        queue = WorkQueue.make(isMain: ct == .mainQueueConcurrencyType)
        super.init()
        frequent = FrequentCollaborators(of: self)
        // Settings and commits reach it from any thread: it is there before another thread knows the context.
        _ = merger
    }

    /// A context of the main queue or of a queue of its own, without a coordinator yet.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    /// Any thread can be the last to hold a context. Its objects belong to the queue, and end there.
    deinit {
        let remains = ContextRemains(frequent, settings.exchangeUndoManager(nil))
        frequent = nil
        queue.whenFree { remains.end() }
    }

    /// The kind of queue that the context works on.
    public final let concurrencyType: NSManagedObjectContextConcurrencyType

    /// Where the context reads and writes: the coordinator at the bottom, if the context has a parent.
    ///
    /// - Precondition: Neither it nor a parent was set before; `nil` cannot be set.
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

    /// The context that this one reads from and saves into; `nil` if it stands on a coordinator.
    ///
    /// A child sees the parent's unsaved changes, and a save hands its own over to the parent: nothing is written before
    /// the context at the bottom is saved. The child keeps its parent alive. Its queue may wait for the parent's; code on
    /// the parent's queue may wait for the child all the same, and what the child needs of the parent is read meanwhile.
    ///
    /// - Precondition: Neither it nor a coordinator was set before, and the context has no objects.
    open var parent: NSManagedObjectContext? {
        get { source?.parent }
        set {
            if newValue === source?.parent { return }
            guard let newValue else { preconditionFailure("Cannot take a context's parent away.") }
            precondition(source == nil, "Context already has a coordinator;  cannot replace.")
            precondition(
                registry.isEmpty, "The parent of a context must be set before objects are registered in it.")
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
    /// Anything that a program wants to keep with the context. Any thread may use it.
    public final let userInfo: NSMutableDictionary = SharedDictionary()
    /// What records changes to be undone; `nil`, the default, records none. Where it takes the place of another one that
    /// has recorded changes, set it on the context's queue.
    open var undoManager: UndoManager? {
        get { settings.read { $0.undoManager } }
        set {
            undoManagerChanged(from: settings.exchangeUndoManager(newValue), to: newValue)
        }
    }
    /// How a save resolves conflicts with what others saved: an `NSMergePolicy`. The error policy by default.
    open var mergePolicy: Any {
        get { settings.read { $0.mergePolicy } }
        set { settings.change { $0.mergePolicy = newValue } }
    }
    /// Whether deletions propagate at the end of each event, or only in a save. `true` by default.
    open var propagatesDeletesAtEndOfEvent: Bool {
        get { settings.read { $0.propagatesDeletesAtEndOfEvent } }
        set { settings.change { $0.propagatesDeletesAtEndOfEvent = newValue } }
    }
    /// Whether unchanged objects without other references stay in memory as long as the context does. `false` by
    /// default: they are let go now and then.
    open var retainsRegisteredObjects: Bool {
        get { settings.read { $0.retainsRegisteredObjects } }
        set { settings.change { $0.retainsRegisteredObjects = newValue } }
    }
    /// Whether a fault whose row is gone becomes a deleted object without values. `true` by default; otherwise firing
    /// it stops the program.
    open var shouldDeleteInaccessibleFaults: Bool {
        get { settings.read { $0.shouldDeleteInaccessibleFaults } }
        set { settings.change { $0.shouldDeleteInaccessibleFaults = newValue } }
    }
    /// For how many seconds values that were read may be used again. There is no cache of rows between contexts: a
    /// refresh always reads the store.
    open var stalenessInterval: TimeInterval {
        get { settings.read { $0.stalenessInterval } }
        set { settings.change { $0.stalenessInterval = newValue } }
    }
    /// Whether saves of other contexts into the coordinator or the parent, and what the parent saves and merges itself, are
    /// merged into this one. `false` by default.
    open var automaticallyMergesChangesFromParent: Bool {
        get { merger.mergesAutomatically }
        set { merger.mergesAutomatically = newValue }
    }

    // MARK: Queue

    /// Runs `block` on the context's queue, some time later, and then processes the pending changes.
    ///
    /// The closure belongs to no actor, wherever it is written, as it may run on another thread than the main one; what it takes
    /// along that is not `Sendable` is a warning.
    @preconcurrency
    open func perform(_ block: @escaping @Sendable () -> Void) {
        queue.async {
            CurrentContext.entering(self) {
                block()
                self.processPendingChanges()
            }
        }
    }

    /// Runs `block` on the context's queue and waits for it: in place if the caller is there already.
    ///
    /// Where threads wait for each other's contexts in a circle, one of them runs its block while the thread that has the
    /// context waits, within that thread's block.
    open func performAndWait<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try performAndWait(.asked, block)
    }

    /// - Parameter reason: why the caller waits: the framework's own work may be in the middle of something.
    @inline(__always)
    final func performAndWait<Result, Failure: Error>(
        _ reason: QueueWaiter.Reason, _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try queue.sync(reason) { () throws(Failure) in try CurrentContext.entering(self, block) }
    }

    /// Runs `block` on the context's queue without blocking the caller's thread, and gives its result: in place if the caller
    /// is there already, and does not ask for its turn. The closure belongs to no actor, as that of ``perform(_:)``.
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

    /// Puts a new object into the context; it gets a temporary ID. A deleted object of the context is not deleted any more.
    open func insert(_ object: NSManagedObject) { lifeCycle.insert(object) }

    /// Marks an object to be deleted by the next save. An object that was never saved is forgotten.
    open func delete(_ object: NSManagedObject) { lifeCycle.delete(object) }

    /// The object of that ID, a fault if the context does not have it. Never reads: the row may not exist.
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
    /// - Throws: 133000 if the row does not exist or the object is deleted; what the store throws.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try lifeCycle.existingObject(objectID)
    }

    /// What becomes of a fault whose row is gone.
    ///
    /// - Parameters:
    ///   - fault: the object whose row the store does not have any more.
    ///   - oid: its ID.
    ///   - property: the property that was read or set; `nil` where the fault fires for none in particular.
    /// - Returns: `true` to make it a deleted object without values, `false` to stop the program.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    /// Gives permanent IDs to new objects before they are saved. They are reserved in the store at once.
    ///
    /// - Throws: 134030 without a coordinator, 513 where the store is read-only, and what the store throws.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        requireQueue("obtainPermanentIDs(for:)")
        var seen: Set<NSManagedObject> = []
        try savePipeline.obtainPermanentIDs(for: objects.filter { seen.insert($0).inserted })
    }

    /// Says in which store a new object shall be saved.
    ///
    /// - Precondition: The object was never saved.
    open func assign(_ object: Any, to store: NSPersistentStore) {
        requireQueue("assign(_:to:)")
        lifeCycle.assign(object, to: store)
    }

    /// Makes the next save fail, or ask the merge policy, if another context or process changed the object, though it
    /// is not changed here.
    open func detectConflicts(for object: NSManagedObject) {
        requireQueue("detectConflicts(for:)")
        savePipeline.lock(object)
    }

    // MARK: State

    /// All objects that the context has in memory and that are in use. O(objects).
    open var registeredObjects: Set<NSManagedObject> {
        requireQueue("registeredObjects")
        return Set(registry.all)
    }
    /// New objects that are not saved.
    open var insertedObjects: Set<NSManagedObject> {
        requireQueue("insertedObjects")
        return changes.inserted.set
    }
    /// Saved objects that were changed.
    open var updatedObjects: Set<NSManagedObject> {
        requireQueue("updatedObjects")
        return changes.updated.set
    }
    /// Saved objects that were deleted. Those whose deletion a merge brought are among them until the event is processed;
    /// of them there is nothing to save.
    open var deletedObjects: Set<NSManagedObject> {
        requireQueue("deletedObjects")
        return changes.allDeleted
    }
    /// Whether there is anything to save.
    open var hasChanges: Bool {
        requireQueue("hasChanges")
        return changes.hasChanges
    }

    /// Ends the event: deletions propagate, undo is registered, objects-did-change is posted. Happens by itself at the
    /// end of the main queue's turn, of each `perform` block, and before each fetch and save.
    open func processPendingChanges() {
        requireQueue("processPendingChanges()")
        events.process(propagatesDeletes: propagatesDeletesAtEndOfEvent)
    }

    // MARK: Saving and taking back

    /// Validates all changes and writes them, one transaction for each store; or hands them over to the parent.
    ///
    /// - Throws: validation errors (1550–1690, several as 1560), 133020 for conflicts that the merge policy did not
    ///   resolve, 133010 for a relationship into another store, or what the store throws. Then nothing was written
    ///   (with several stores see 134040), and the changes are all still there.
    open func save() throws { try savePipeline.save() }

    /// Drops all changes that are not saved, and what could be undone.
    open func rollback() { refresher.rollback() }

    /// Forgets all objects. Those that the program still holds have no context any more, and are told of by their IDs.
    open func reset() { refresher.reset() }

    /// Lets an object be read anew: its changes and its values that live in memory only stay on top of the new values; or,
    /// with `false`, they are dropped. An object that has nothing to keep becomes a fault, which is read when it is touched.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        refresher.refresh([object], mergeChanges: flag)
    }

    /// Lets all objects be read anew; changes stay on top of the new values. Objects without changes become faults and hold
    /// their neighbours no longer, which gives their memory back; what they have in memory only is dropped.
    open func refreshAllObjects() {
        refresher.refresh(registry.refreshable, mergeChanges: true, keepsTransient: false)
    }

    /// Takes back the last group of changes.
    open func undo() {
        requireQueue("undo()")
        undoRecorder.undo()
    }

    /// Takes back the last undo.
    open func redo() {
        requireQueue("redo()")
        undoRecorder.redo()
    }

    // MARK: For the framework's other parts

    /// Whether the caller is where the context may be used.
    final var isOnQueue: Bool { queue.isCurrent }
    final var isOnMainQueue: Bool { queue.isMain }

    /// Stops the program, or tells, as ``ConcurrencyChecking`` says, where the caller is not on the context's queue.
    ///
    /// - Parameter access: what the caller does; only asked for then.
    @inline(__always)
    final func requireQueue(_ access: @autoclosure () -> String) {
        if ConcurrencyChecking.isOn, !isOnQueue, QueueWatchdog.isToBeTold(.useOffQueue) { refuse(access()) }
    }

    private func refuse(_ access: String) {
        let text = name.map { " named '\($0)'" } ?? ""
        let message =
            "A managed object context\(text) is used outside of its queue, by \(access): wrap the use in perform(_:)."
        if let watch = queue.watch {
            QueueWatchdog.tell(message, [("It is used here", QueueWatchdog.stack), watch.side])
        }
        if ConcurrencyChecking.stops { preconditionFailure(message) }
    }

    final func scheduleProcessing() { events.schedule() }

    /// How many contexts lie beneath this one.
    final var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

    /// The context that writes to the stores.
    final var root: NSManagedObjectContext { parent?.root ?? self }

    private func stands(on other: NSManagedObjectContext) -> Bool {
        self === other || parent?.stands(on: other) ?? false
    }

    /// Notes that what was read and is not in use may be stale: others saved, or the parent's objects changed. Any thread.
    final func noteChangesBeneath() { merger.objectsBeneathDidChange() }

    /// The objects of the context changed: its children see them so when they read next.
    final func tellChildrenOfEvent() {
        for child in children.live { child.objectsBeneathDidChange() }
    }

    /// The context saved, merged, or took over a child's save: the other children hear of it. They read what it has.
    final func tellChildren(_ changes: CommittedChanges, from source: NSManagedObjectContext) {
        let observers = children.live
        guard !observers.isEmpty, !changes.isEmpty else { return }
        var changes = changes
        changes.rows = []
        for child in observers { child.coordinatorDidCommit(changes, from: source) }
    }

    /// The same row's ID with this stack's store and entity.
    final func localID(_ id: NSManagedObjectID) -> NSManagedObjectID { source?.localID(id) ?? id }

    /// The class of an entity's objects.
    final func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type { lifeCycle.objectClass(of: entity) }

    /// The one entity of the context's model that has the class.
    final func entity(for type: NSManagedObject.Type) -> NSEntityDescription { lifeCycle.entity(for: type) }

    /// The object leaves the context.
    final func letGo(_ objects: [NSManagedObject]) { lifeCycle.letGo(objects) }
}

/// The collaborators of a context that every object asks for, made with it.
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

/// The objects of a context that is gone, and what holds them, until its queue comes to them.
// SAFETY: made by the last owner, and from then on used on the context's queue alone.
private final class ContextRemains: @unchecked Sendable {
    private var collaborators: FrequentCollaborators?
    private var undoManager: UndoManager?

    init(_ collaborators: FrequentCollaborators, _ undoManager: UndoManager?) {
        self.collaborators = collaborators
        self.undoManager = undoManager
    }

    /// All objects leave, and those that nobody else holds go away.
    func end() {
        collaborators?.lifeCycle.abandonAll()
        undoManager = nil
        collaborators = nil
    }
}
