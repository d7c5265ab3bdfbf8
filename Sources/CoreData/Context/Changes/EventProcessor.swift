import Foundation

/// Processes the changes of an event: propagates deletions, registers undo, posts objects-did-change.
final class EventProcessor {
    // SAFETY: the context owns the processor, and is not used by it once it goes away.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private var isProcessing = false
    /// Whether the event's notification is being posted: its observers may save.
    private var isPosting = false
    private var isScheduled = false
    /// Whether a save tells how far it is: what hears of that leaves the changes as the save found them.
    private var isHeld = false
    /// Deleted objects whose delete rules wait for the save.
    private var unpropagated: [NSManagedObject] = []

    /// The sets that were posted last, while a save goes on: what it posts in the end is usually what it posted first,
    /// and to make a set of many objects takes as long as writing them.
    private var posted: [(objects: [NSManagedObject], set: Set<NSManagedObject>)]?

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: Sets of objects

    /// Runs `body`, a save, and keeps the sets that are posted meanwhile.
    func keepingSets<Result>(_ body: () throws -> Result) rethrows -> Result {
        posted = []
        defer { posted = nil }
        return try body()
    }

    /// The set of `objects`, each of which stands there once.
    func set(of objects: [NSManagedObject]) -> Set<NSManagedObject> {
        if objects.isEmpty { return [] }
        if let known = posted?.last(where: { $0.objects.isSame(as: objects) }) { return known.set }
        let made = Set(held: objects)
        posted?.append((objects, made))
        return made
    }

    // MARK: Events

    /// Runs `body`, in which no event is processed, and no object let go.
    func withoutProcessing<Result>(_ body: () throws -> Result) rethrows -> Result {
        let before = isHeld
        isHeld = true
        defer { isHeld = before }
        return try body()
    }

    /// Lets the pending changes be processed at the end of the main queue's turn. Contexts of private queues process at
    /// the end of each `perform` block.
    func schedule() {
        guard !isScheduled, !isProcessing, context.isOnMainQueue else { return }
        isScheduled = true
        let weakContext = UncheckedSendable(WeakContext(context: context))
        DispatchQueue.main.async {
            guard let context = weakContext.value.context else { return }
            context.events.isScheduled = false
            context.processPendingChanges()
        }
    }

    private struct WeakContext {
        weak var context: NSManagedObjectContext?
    }

    /// - Parameters:
    ///   - propagatesDeletes: Whether delete rules are applied now.
    ///   - isForSave: Whether a save needs it: then what came while an event is posted is an event of its own, within that.
    func process(propagatesDeletes: Bool, isForSave: Bool = false) {
        if isHeld { return }
        context.registry.releaseUnusedAfterMany()
        context.registry.tellStores()
        if !isProcessing { context.changes.settleMergedDeletions() }
        let waits = propagatesDeletes && !unpropagated.isEmpty
        let isWithinPosting = isPosting && isForSave
        guard !isProcessing || isWithinPosting, waits || context.changes.hasPending else { return }
        isProcessing = true
        isPosting = false
        if !context.undoRecorder.isApplying {
            var propagation = DeletePropagation(context: context)
            if propagatesDeletes {
                propagation.run(unpropagated)
                unpropagated = []
            } else {
                // They leave the context with this event, and are not propagated later.
                propagation.run([], among: { $0.flags.contains(.dropped) })
            }
        }
        let event = context.changes.beginPosting()
        if !propagatesDeletes { unpropagated += event.deleted.filter { !$0.flags.contains(.dropped) } }
        context.undoRecorder.record(event)
        if !event.isEmpty || !event.vanished.isEmpty { context.tellChildrenOfEvent() }
        isPosting = true
        post(event)
        isPosting = false
        context.changes.endPosting(event)
        context.letGo((event.deleted + event.vanished).filter { $0.flags.contains(.dropped) })
        isProcessing = isWithinPosting
        isPosting = isWithinPosting
        if context.changes.hasPending { schedule() }
    }

    private func post(_ event: ChangeTracker.Event) {
        guard !event.isEmpty else { return }
        var info: [AnyHashable: Any] = [:]
        func add(_ key: String, _ objects: [NSManagedObject]) {
            if !objects.isEmpty { info[key] = set(of: objects) }
        }
        add(NSInsertedObjectsKey, event.inserted)
        add(NSUpdatedObjectsKey, event.updated)
        add(NSDeletedObjectsKey, event.deleted)
        add(NSRefreshedObjectsKey, event.refreshed)
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didChangeObjectsNotification, object: context, userInfo: info)
    }
}
