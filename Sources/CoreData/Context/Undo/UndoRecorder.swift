/// Registers each event's changes with the undo manager, and reverts them.
///
/// An event is recorded as the differences of all touched objects, with both ends of relationships. So an undo restores
/// values and contents exactly, without hooks and delete rules. The changes of an undo are an event that is recorded
/// again, for redo.
final class UndoRecorder {
    // SAFETY: the context owns the recorder and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    /// True while an undo or redo is applied.
    private(set) var isApplying = false
    private var isRecording = false

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: Recording

    /// Registers the event that is being posted.
    func record(_ event: ChangeTracker.Event) {
        guard let manager = context.undoManager, manager.isUndoRegistrationEnabled else { return }
        var steps: [UndoStep] = []
        for object in event.inserted { steps.append(step(object, .came)) }
        for object in event.updated { steps.append(step(object, .unchanged)) }
        // Undo does not restore objects that others deleted.
        for object in event.deleted where !object.flags.contains(.inaccessible) { steps.append(step(object, .went)) }
        steps.removeAll { $0.presence == .unchanged && $0.slots.isEmpty && $0.toMany.isEmpty }
        guard !steps.isEmpty else { return }
        // Each event of the context is an undo group of its own, even if the undo manager groups by event.
        isRecording = true
        defer { isRecording = false }
        manager.closeAutomaticGroup()
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: self) { $0.takeBack(steps) }
        manager.endUndoGrouping()
    }

    private func step(_ object: NSManagedObject, _ presence: UndoStep.Presence) -> UndoStep {
        var slots: [(slot: Int, old: SlotValue)] = []
        if let before = object.baseline?.allValues {
            for slot in before.indices where before[slot] != object.currentValue(slot) {
                slots.append((slot, before[slot]))
            }
        }
        guard presence != .came else { return UndoStep(object: object, presence: presence, slots: slots, toMany: []) }
        let toMany = object.touchedToMany.compactMap { number, state -> UndoStep.ToMany? in
            guard state.hasEventChanges else { return nil }
            return UndoStep.ToMany(
                number: number, added: state.eventAdded, removed: state.eventRemoved, oldOrder: state.eventOrder)
        }
        return UndoStep(object: object, presence: presence, slots: slots, toMany: toMany)
    }

    // MARK: Applying

    private func takeBack(_ recorded: [UndoStep]) {
        let steps = UndoStep.standing(recorded, in: context)
        let wasApplying = isApplying
        isApplying = true
        var left: [LeftTarget] = []
        for step in steps.reversed() {
            left += takeBackValues(step)
            switch step.presence {
            case .unchanged: break
            case .came: context.changes.noteDeletion(step.object)
            case .went: revive(step.object)
            }
        }
        for target in left { InverseReconciler.leave(target.object, of: target.owner, slot: target.slot) }
        let gone = goneDestinations(of: steps)
        for step in steps { settle(step, gone) }
        for step in steps { leaveToOthers(step) }
        for step in steps where step.presence == .came { InverseReconciler.leaveAll(step.object) }
        for step in steps { step.object.awake(fromSnapshotEvents: Self.kind(step.presence)) }
        context.processPendingChanges()
        isApplying = wasApplying
    }

    /// A destination that an object had before a step was undone.
    private struct LeftTarget {
        let object: NSManagedObject
        let owner: NSManagedObject
        let slot: Int
    }

    private func takeBackValues(_ step: UndoStep) -> [LeftTarget] {
        let object = step.object
        guard !step.slots.isEmpty || !step.toMany.isEmpty else { return [] }
        object.willChange()
        let announced = object.announcing(
            step.slots.map { object.layout.place(ofSlot: $0.slot) } + step.toMany.map { .toMany($0.number) })
        defer { announced?.end() }
        var left: [LeftTarget] = []
        for (slot, old) in step.slots {
            if slot >= object.layout.attributeCount, let target = object.toOneTarget(slot) {
                left.append(LeftTarget(object: target, owner: object, slot: slot))
            }
            object.write(old, slot: slot)
        }
        for change in step.toMany {
            let state = object.toManyState(change.number)
            for member in change.added { state.remove(member) }
            for member in change.removed { state.insert(member) }
            if let oldOrder = change.oldOrder, state.isLoaded { state.reorder(by: oldOrder) }
        }
        return left
    }

    /// The restored destinations that turn out to have no row any more. One query for those that were not read.
    private func goneDestinations(of steps: [UndoStep]) -> Set<NSManagedObject> {
        var unread: Set<NSManagedObject> = []
        for step in steps where !step.object.isDeleted {
            for (slot, _) in step.slots where slot >= step.object.layout.attributeCount {
                if let target = step.object.toOneTarget(slot) { unread.insert(target) }
            }
            for change in step.toMany { unread.formUnion(change.removed) }
        }
        unread = unread.filter { $0.waitsForRow && $0.managedObjectContext === context }
        // If the store does not respond, no row is known to be deleted.
        guard !unread.isEmpty, (try? context.faults.fetchRows(of: Array(unread))) != nil else { return [] }
        return unread.filter { $0.snapshot == nil }
    }

    /// Adapts restored values to changes that others made since: references to objects that others deleted are dropped,
    /// and a one-to-one destination that others gave to another object is taken back.
    private func settle(_ step: UndoStep, _ gone: Set<NSManagedObject>) {
        let object = step.object
        guard !object.isDeleted else { return }
        for (slot, _) in step.slots where slot >= object.layout.attributeCount {
            guard let target = object.toOneTarget(slot) else { continue }
            if target.isDeleted || gone.contains(target) {
                InverseReconciler.dropReference(of: object, slot: slot)
            } else if object.layout.traits.oneToOneSlots.contains(slot) {
                InverseUpkeep.reconcile(object, slot: slot, from: nil, to: target)
            } else {
                InverseReconciler.join(target, of: object, slot: slot)
            }
        }
        for change in step.toMany {
            let state = object.toManyState(change.number)
            for member in change.removed {
                if member.isDeleted || member.managedObjectContext !== context || gone.contains(member) {
                    state.discard(member)
                } else {
                    InverseUpkeep.rejoin(object, number: change.number, with: member)
                }
            }
        }
        guard step.presence == .went else { return }
        // The restored object's row may refer to objects that this context has deleted since.
        InverseReconciler.leaveDeleted(object)
        InverseUpkeep.rejoin(object)
    }

    /// Removes restored members whose own row refers to the owner, if another context or process has given them to
    /// another owner.
    private func leaveToOthers(_ step: UndoStep) {
        let object = step.object
        guard !object.isDeleted else { return }
        for change in step.toMany {
            guard let inverse = object.layout.toManyRelationships[change.number].inverseRelationship,
                !inverse.isToMany
            else { continue }
            let state = object.toManyState(change.number)
            for member in change.removed where state.contains(member) {
                guard case .toOne(let slot) = member.layout.place(of: inverse.name),
                    member.toOneTarget(slot) !== object
                else { continue }
                state.remove(member)
            }
        }
    }

    private func revive(_ object: NSManagedObject) {
        if object.managedObjectContext == nil {
            object.enter(context.homes)
            context.registry.register(object, object.objectID)
        }
        context.changes.noteRevival(object)
    }

    private static func kind(_ presence: UndoStep.Presence) -> NSSnapshotEventType {
        switch presence {
        case .unchanged: .undoUpdate
        case .came: .undoInsertion
        case .went: .undoDeletion
        }
    }

    // MARK: The context's undo and redo

    func undo() {
        context.processPendingChanges()
        context.undoManager?.undo()
    }

    func redo() {
        context.processPendingChanges()
        context.undoManager?.redo()
    }

    /// Removes all undo actions of the context.
    func forgetAll() { context.undoManager?.removeAllActions(withTarget: self) }
}

// MARK: Checkpoints of the manager

extension UndoRecorder {
    /// Ends the event, so that the changes until now are in the group that is currently open.
    func reachedCheckpoint() {
        guard !isRecording, !isApplying else { return }
        context.processPendingChanges()
    }
}

// The context is the listener, not its recorder, because the manager retains the listener during a call, on any thread.
extension NSManagedObjectContext: UndoCheckpointListener {
    /// Does nothing off the context's queue: a context of a private queue may have been used on the main thread, where
    /// groups end automatically.
    final func undoManagerReachedCheckpoint() {
        guard isOnQueue else { return }
        undoRecorder.reachedCheckpoint()
    }

    /// Replaces the manager. Removes the context's actions from the old one.
    final func undoManagerChanged(from old: UndoManager?, to new: UndoManager?) {
        guard old !== new else { return }
        old?.remove(self)
        old?.removeAllActions(withTarget: undoRecorder)
        new?.add(self)
    }
}
