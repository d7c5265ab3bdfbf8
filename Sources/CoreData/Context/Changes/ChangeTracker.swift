/// The changes in a context: since the last save, and since the current event began.
///
/// All lists are in the order in which objects were added. An object may be in one of the unsaved lists and, during its
/// event, also in the pending ones.
final class ChangeTracker {
    // Retaining a context costs more than retaining other objects, because it has weak references. Code that runs for
    // every object avoids it.
    // SAFETY: the context owns the tracker and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private let events: EventProcessor

    // Objects with unsaved changes, by the kind of change.
    // SAFETY: used only on the context's queue, and a list calls no other code while it changes, so accesses do not
    // overlap.
    @exclusivity(unchecked) private(set) var inserted = ObjectList(flag: .inserted)
    @exclusivity(unchecked) private(set) var updated = ObjectList(flag: .updated)
    @exclusivity(unchecked) private(set) var deleted = ObjectList(flag: .deleted)

    // Objects changed since the last `processPendingChanges()`, by the kind of change.
    // SAFETY: as above.
    @exclusivity(unchecked) private(set) var pendingInserted = ObjectList(flag: .pendingInserted)
    @exclusivity(unchecked) private(set) var pendingUpdated = ObjectList(flag: .pendingUpdated)
    @exclusivity(unchecked) private(set) var pendingDeleted = ObjectList(flag: .pendingDeleted)
    @exclusivity(unchecked) private(set) var pendingRefreshed = ObjectList(flag: .pendingRefreshed)

    /// Objects whose deletion was merged since the last event was processed. A save does not write them.
    private var mergedDeletions: [NSManagedObject] = []

    /// The number of the current event.
    private(set) var event: UInt64 = 1

    init(context: NSManagedObjectContext, events: EventProcessor) {
        unretained = Unretained(context)
        self.events = events
    }

    // MARK: State

    var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }

    /// Deleted objects: those that the next save deletes and, until the event is processed, those that others deleted
    /// and a merge reported.
    var allDeleted: Set<NSManagedObject> {
        let merged = mergedDeletions.filter { $0.flags.contains(.dropped) && $0.managedObjectContext === context }
        return merged.isEmpty ? deleted.set : deleted.set.union(merged)
    }

    /// True if the event has anything to process.
    var hasPending: Bool {
        !pendingInserted.isEmpty || !pendingUpdated.isEmpty || !pendingDeleted.isEmpty || !pendingRefreshed.isEmpty
    }

    // MARK: Noting changes

    /// Records the object and its values at the beginning of the event. Called before each change of an object's
    /// values.
    ///
    /// Unnecessary if the object is among the event's changed ones, or among its new ones and was not deleted before.
    func noteChange(_ object: NSManagedObject) {
        requireQueue("changing '\(object.objectID)'")
        if object.flags.isDisjoint(with: [.inserted, .deleted, .dropped]) { updated.add(object) }
        if object.baseline == nil || object.baseline?.event != event {
            object.baseline = EventBaseline(event: event, values: object.values, snapshot: object.snapshot)
        }
        pendingUpdated.add(object)
        events.schedule()
    }

    @inline(__always)
    private func requireQueue(_ access: @autoclosure () -> String) {
        if ConcurrencyChecking.isOn { context.requireQueue(access()) }
    }

    /// Records that an object has to be saved although it has no change of the event: nothing can be undone.
    func noteUnsaved(_ object: NSManagedObject) {
        if object.flags.isDisjoint(with: [.inserted, .deleted, .dropped]) { updated.add(object) }
        noteRefresh(object)
    }

    func noteInsertion(_ object: NSManagedObject) {
        requireQueue("inserting '\(object.objectID)'")
        object.flags.subtract([.fault, .dropped])
        pendingDeleted.remove(object)
        inserted.add(object)
        pendingInserted.add(object)
        events.schedule()
    }

    /// Adds a saved object to the deleted ones; drops one that was never saved.
    func noteDeletion(_ object: NSManagedObject) {
        requireQueue("deleting '\(object.objectID)'")
        if object.flags.contains(.stored) {
            deleted.add(object)
            updated.remove(object)
        } else {
            object.flags.insert(.dropped)
            inserted.remove(object)
        }
        pendingDeleted.add(object)
        events.schedule()
    }

    /// Records an object that a merge reported as deleted by another context or process.
    func noteMergedDeletion(_ object: NSManagedObject) {
        mergedDeletions.append(object)
        events.schedule()
    }

    /// Ends the event that merged deletions belong to.
    func settleMergedDeletions() { if !mergedDeletions.isEmpty { mergedDeletions = [] } }

    /// Records that a deletion is reverted.
    func noteRevival(_ object: NSManagedObject) {
        guard object.flags.contains(.stored) else { return noteInsertion(object) }
        deleted.remove(object)
        if object.flags.contains(.pendingDeleted) {
            pendingDeleted.remove(object)
        } else {
            pendingInserted.add(object)
        }
        if ChangedValues.differsFromSaved(object) { updated.add(object) }
        events.schedule()
    }

    func noteRefresh(_ object: NSManagedObject) {
        pendingRefreshed.add(object)
        events.schedule()
    }

    /// Forgets the object's changes, but not its deletion or insertion.
    func forgetUpdate(_ object: NSManagedObject) { updated.remove(object) }

    /// Removes the object from all lists.
    func forget(_ object: NSManagedObject) {
        inserted.remove(object)
        updated.remove(object)
        deleted.remove(object)
        pendingInserted.remove(object)
        pendingUpdated.remove(object)
        pendingDeleted.remove(object)
        pendingRefreshed.remove(object)
        object.flags.remove(.dropped)
        object.baseline = nil
        context.faults.unread.forget(object)
    }

    /// Forgets objects that left the context, because they may be inserted into another one. Makes a pass over all
    /// changed objects if removed ones are still in the lists.
    func leaveNoTrace(of objects: [NSManagedObject]) {
        guard objects.contains(where: { !$0.flags.isDisjoint(with: .lists) }) else { return }
        inserted.leaveNoTrace()
        updated.leaveNoTrace()
        deleted.leaveNoTrace()
        pendingInserted.leaveNoTrace()
        pendingUpdated.leaveNoTrace()
        pendingDeleted.leaveNoTrace()
        pendingRefreshed.leaveNoTrace()
    }

    // MARK: Ending events

    /// The changes of one event.
    struct Event {
        let number: UInt64
        var inserted: [NSManagedObject]
        var updated: [NSManagedObject]
        var deleted: [NSManagedObject]
        var refreshed: [NSManagedObject]
        /// Objects that were inserted and deleted within the event.
        var vanished: [NSManagedObject]
        /// All objects that the event touched, in lists as recorded; an object may be in several.
        var touched: [[NSManagedObject]]

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }
    }

    /// Returns the pending changes and begins the next event.
    func beginPosting() -> Event {
        let number = event
        event += 1
        var areStaying = true
        let inserted = pendingInserted.takeAll { object in
            object.flags.insert(.newInEvent)
            if object.isDeleted { areStaying = false }
        }
        let updated = pendingUpdated.takeAll()
        let deleted = pendingDeleted.takeAll()
        let refreshed = pendingRefreshed.takeAll()
        let staying = areStaying ? inserted : inserted.filter { !$0.isDeleted }
        return Event(
            number: number,
            inserted: staying,
            updated: updated.keeping { !$0.isDeleted && !$0.flags.contains(.newInEvent) },
            deleted: deleted.keeping { $0.isDeleted && !$0.flags.contains(.newInEvent) },
            refreshed: refreshed.keeping { !$0.isDeleted },
            vanished: staying.count == inserted.count ? [] : inserted.filter(\.isDeleted),
            touched: [inserted, updated, deleted, refreshed])
    }

    /// Drops the baselines of an event whose changes were posted.
    func endPosting(_ event: Event) {
        for objects in event.touched {
            objects.forEachHeld { object in
                object.flags.remove(.newInEvent)
                if let baseline = object.baseline, baseline.event <= event.number { object.baseline = nil }
                guard object.hasRelations, object.flags.isDisjoint(with: .pending) else { return }
                object.forEachTouchedToMany { _, state in state.endEvent() }
            }
        }
    }

    // MARK: Ending saves

    /// True if all changed objects are `objects`, and all are new.
    func areOnlyInsertions(_ objects: [NSManagedObject]) -> Bool {
        updated.isEmpty && deleted.isEmpty && inserted.isExactly(objects)
    }

    /// The flags of objects in the list of new ones.
    var insertionMarks: ObjectFlags { inserted.marks }

    /// Records that new objects are saved. The caller has removed their marks.
    func settleInsertions(_ objects: [NSManagedObject]) { inserted.drop(objects) }

    /// Records that the objects' changes are saved.
    func settle(_ objects: [NSManagedObject]) {
        // Usually all changed objects are saved.
        if objects.count == inserted.count + updated.count + deleted.count {
            inserted.takeAll()
            updated.takeAll()
            deleted.takeAll()
            return
        }
        for object in objects {
            inserted.remove(object)
            updated.remove(object)
            deleted.remove(object)
        }
    }

    /// Makes a changed object whose row no longer exists a new one.
    func turnIntoInsertion(_ object: NSManagedObject) {
        updated.remove(object)
        object.flags.remove(.stored)
        inserted.add(object)
    }

    /// Makes a new object that already has a row a changed one.
    func turnIntoUpdate(_ object: NSManagedObject) {
        inserted.remove(object)
        object.flags.insert(.stored)
        updated.add(object)
    }

    func removeAll() {
        for object in [inserted.all, pendingDeleted.all, updated.all, deleted.all].joined() {
            object.flags.remove(.dropped)
            object.baseline = nil
        }
        inserted.takeAll()
        updated.takeAll()
        deleted.takeAll()
        pendingInserted.takeAll()
        pendingUpdated.takeAll()
        pendingDeleted.takeAll()
        pendingRefreshed.takeAll()
        settleMergedDeletions()
        context.faults.unread.forgetAll()
        event += 1
    }
}
