/// What changed in a context: since the last save, and since the current event began.
///
/// All lists keep the order in which the objects came. An object is at the same time in one of the unsaved lists and,
/// while its event lasts, in the pending ones.
final class ChangeTracker {
    // Retaining a context costs more than other objects, because there are weak references to it: what happens for every
    // object does without it.
    // SAFETY: the context owns the tracker, and is not used by it once it goes away.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private let events: EventProcessor

    // Every change asks for these.

    // Unsaved.
    // SAFETY: used on the context's queue alone, and a list calls nothing while it changes: no accesses overlap.
    @exclusivity(unchecked) private(set) var inserted = ObjectList(flag: .inserted)
    @exclusivity(unchecked) private(set) var updated = ObjectList(flag: .updated)
    @exclusivity(unchecked) private(set) var deleted = ObjectList(flag: .deleted)

    // Since the event began.
    // SAFETY: as above.
    @exclusivity(unchecked) private(set) var pendingInserted = ObjectList(flag: .pendingInserted)
    @exclusivity(unchecked) private(set) var pendingUpdated = ObjectList(flag: .pendingUpdated)
    @exclusivity(unchecked) private(set) var pendingDeleted = ObjectList(flag: .pendingDeleted)
    @exclusivity(unchecked) private(set) var pendingRefreshed = ObjectList(flag: .pendingRefreshed)

    /// Objects whose deletion a merge brought since the last event was processed. There is nothing to save of them.
    private var mergedDeletions: [NSManagedObject] = []

    /// The number of the current event.
    private(set) var event: UInt64 = 1

    init(context: NSManagedObjectContext, events: EventProcessor) {
        unretained = Unretained(context)
        self.events = events
    }

    // MARK: Asking

    var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }

    /// The objects that count as deleted: those that the next save deletes, and until the event is processed those that
    /// others deleted and a merge told of.
    var allDeleted: Set<NSManagedObject> {
        let merged = mergedDeletions.filter { $0.flags.contains(.dropped) && $0.managedObjectContext === context }
        return merged.isEmpty ? deleted.set : deleted.set.union(merged)
    }

    /// Whether the event has anything to process.
    var hasPending: Bool {
        !pendingInserted.isEmpty || !pendingUpdated.isEmpty || !pendingDeleted.isEmpty || !pendingRefreshed.isEmpty
    }

    // MARK: Noting changes

    /// To be called before each change of an object's values: notes it and keeps what it was when the event began.
    ///
    /// Needless while the object is among the event's changed ones, or among its new ones that no deletion preceded.
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

    /// The object has something to be saved that is no change of the event: nothing that could be undone.
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

    /// A saved object goes into the deleted ones; one that was never saved is dropped.
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

    /// Others deleted the object, and a merge tells of it.
    func noteMergedDeletion(_ object: NSManagedObject) {
        mergedDeletions.append(object)
        events.schedule()
    }

    /// The event that merges belong to is over.
    func settleMergedDeletions() { if !mergedDeletions.isEmpty { mergedDeletions = [] } }

    /// A deletion is taken back.
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

    /// The object's changes are gone; its deletion or insertion, if any, is not.
    func forgetUpdate(_ object: NSManagedObject) { updated.remove(object) }

    /// The object leaves all lists.
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

    /// Nothing remembers objects that left the context, which may go into another one. A look at all changed objects, where
    /// some that left still have a place among them.
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

    // MARK: Ending events and saves

    /// What one event did.
    struct Event {
        let number: UInt64
        var inserted: [NSManagedObject]
        var updated: [NSManagedObject]
        var deleted: [NSManagedObject]
        var refreshed: [NSManagedObject]
        /// Objects that came and went within the event.
        var vanished: [NSManagedObject]
        /// All objects that the event touched, in lists as they were noted: some stand in more than one.
        var touched: [[NSManagedObject]]

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }
    }

    /// Takes what is pending and begins the next event.
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

    /// The event's changes were posted: what they started from is of no interest any more.
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

    /// Whether `objects` are all that have changes, and all of them are new.
    func areOnlyInsertions(_ objects: [NSManagedObject]) -> Bool {
        updated.isEmpty && deleted.isEmpty && inserted.isExactly(objects)
    }

    /// What says that an object is among the new ones.
    var insertionMarks: ObjectFlags { inserted.marks }

    /// New objects are saved; the caller took their marks away.
    func settleInsertions(_ objects: [NSManagedObject]) { inserted.drop(objects) }

    /// The objects' changes are saved.
    func settle(_ objects: [NSManagedObject]) {
        // Usually all that has changes is saved.
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

    /// A changed object whose row is gone is written as a new one.
    func turnIntoInsertion(_ object: NSManagedObject) {
        updated.remove(object)
        object.flags.remove(.stored)
        inserted.add(object)
    }

    /// A new object turned out to have a row already.
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
