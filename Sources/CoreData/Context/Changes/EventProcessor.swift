import Foundation

/// Processes the changes of an event: propagates deletions, registers undo, posts objects-did-change.
final class EventProcessor {
    // SAFETY: the context owns the processor and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private var isProcessing = false
    /// True while the event's notification is posted: its observers may save.
    private var isPosting = false
    private var isScheduled = false
    /// True while a save reports its progress: the report must not change the context.
    private var isHeld = false
    /// Deleted objects whose delete rules are applied by the next save.
    private var unpropagated: [NSManagedObject] = []

    /// The sets that a save has posted so far. At its end it usually posts the same ones again, and creating a set of
    /// many objects takes as long as writing them.
    private var posted: [(objects: [NSManagedObject], set: Set<NSManagedObject>)]?

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: Sets of objects

    /// Runs `body`, a save, and keeps the sets that are posted during it.
    func keepingSets<Result>(_ body: () throws -> Result) rethrows -> Result {
        posted = []
        defer { posted = nil }
        return try body()
    }

    /// The set of `objects`, which has no duplicates.
    func set(of objects: [NSManagedObject]) -> Set<NSManagedObject> {
        if objects.isEmpty { return [] }
        if let known = posted?.last(where: { $0.objects.isSame(as: objects) }) { return known.set }
        let made = Set(held: objects)
        posted?.append((objects, made))
        return made
    }

    // MARK: Events

    /// Runs `body` without processing events or releasing objects.
    func withoutProcessing<Result>(_ body: () throws -> Result) rethrows -> Result {
        let before = isHeld
        isHeld = true
        defer { isHeld = before }
        return try body()
    }

    /// Schedules processing at the end of the main queue's turn. Contexts of private queues process at the end of each
    /// `perform` block.
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
    ///   - propagatesDeletes: True to apply delete rules now.
    ///   - isForSave: True if a save needs it. Changes made while an event is posted are then a nested event.
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
                // Dropped objects leave the context with this event, so their rules cannot be applied later.
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
