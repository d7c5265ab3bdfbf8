import Foundation

/// Takes objects back to what the store has: refresh, rollback, reset, and the rows that merges bring.
final class Refresher {
    private unowned(unsafe) let context: NSManagedObjectContext

    init(context: NSManagedObjectContext) { self.context = context }

    // MARK: Refresh

    /// - Precondition: The store can be read, where values are merged.
    func refresh(_ objects: [NSManagedObject], mergeChanges: Bool) {
        context.requireQueue()
        let stored = objects.filter {
            $0.managedObjectContext === context && $0.flags.contains(.stored) && !$0.isDeleted
        }
        if mergeChanges {
            do {
                try readAnew(stored)
            } catch {
                preconditionFailure("Objects could not be refreshed: \((error as NSError).localizedDescription)")
            }
        } else {
            for object in stored { turnIntoFault(object) }
        }
    }

    private func readAnew(_ objects: [NSManagedObject]) throws {
        for object in objects where object.isFault { object.snapshot = nil }
        let real = objects.filter { !$0.isFault }
        guard !real.isEmpty, let source = context.source else { return }
        let rows = try source.rows(for: real.map(\.objectID))
        for object in real {
            if let row = rows[object.objectID] { adopt(row, for: object, as: .refresh) } else { rowWasDeleted(object) }
        }
    }

    private func turnIntoFault(_ object: NSManagedObject) {
        object.willTurnIntoFault()
        takeBackRelationships(of: object)
        context.changes.forget(object)
        object.values = []
        object.snapshot = nil
        object.relations = []
        object.flags.insert(.fault)
        object.didTurnIntoFault()
        context.changes.noteRefresh(object)
    }

    /// The far ends of changed relationships follow the object back to what is saved.
    private func takeBackRelationships(of object: NSManagedObject) {
        for slot in ChangedValues.changedSlots(of: object) where slot >= object.layout.attributeCount {
            guard case .reference(let id) = object.snapshot?.values[slot] else {
                InverseUpkeep.set(nil, of: object, slot: slot)
                continue
            }
            let target = context.registry.object(for: id)
            if !target.isDeleted { InverseUpkeep.set(target, of: object, slot: slot) }
        }
        for number in ChangedValues.changedToMany(of: object) {
            let saved = object.loadedToManyState(number).committedContents.filter { !$0.isDeleted }
            InverseUpkeep.replace(saved, of: object, number: number)
        }
    }

    // MARK: Merging

    /// The row has new values: the object's unsaved changes stay on top of them, and its to-many relationships are read
    /// again when they are wanted. A fault only takes the row.
    func adopt(_ row: RowSnapshot, for object: NSManagedObject, as event: NSSnapshotEventType) {
        guard !object.isFault else {
            object.snapshot = row
            return
        }
        rebase(object, on: row)
        for (_, state) in object.touchedToMany where state.isLoaded { state.turnIntoFault() }
        object.awake(fromSnapshotEvents: event)
        context.changes.noteRefresh(object)
    }

    /// Changes the row beneath the object's changes.
    func rebase(_ object: NSManagedObject, on row: RowSnapshot) {
        if !object.values.isEmpty, let base = object.snapshot {
            let isTransient = object.layout.traits.isTransient
            for slot in object.values.indices where !isTransient[slot] {
                if ChangedValues.same(object.values[slot], base.values[slot], object) {
                    object.values[slot] = row.values[slot]
                }
            }
        }
        object.snapshot = row
    }

    /// The row is gone, by somebody else's deletion: the object is posted as deleted and leaves the context. Nothing is
    /// left to save of it.
    func rowWasDeleted(_ object: NSManagedObject) {
        context.changes.forget(object)
        forgetInNeighbours(object)
        object.flags.remove(.stored)
        object.flags.insert(.inaccessible)
        context.changes.noteDeletion(object)
    }

    /// Takes the object out of what neighbours have read, which is no change of theirs.
    private func forgetInNeighbours(_ object: NSManagedObject) {
        guard !object.isFault else { return }
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            guard let relationship = object.layout.slots[slot] as? NSRelationshipDescription,
                let inverse = relationship.inverseRelationship,
                case .reference(let id) = object.currentValue(slot), let far = context.registry.registered(id),
                case .toMany(let number) = far.layout.place(of: inverse.name)
            else { continue }
            far.knownToManyState(number)?.discard(object)
        }
        for (number, state) in object.touchedToMany {
            guard let inverse = object.layout.toManyRelationships[number].inverseRelationship else { continue }
            for far in state.contents {
                guard case .toMany(let number) = far.layout.place(of: inverse.name) else { continue }
                far.knownToManyState(number)?.discard(object)
            }
        }
    }

    // MARK: Rollback and reset

    func rollback() {
        context.requireQueue()
        context.undoManager?.removeAllActions()
        let changes = context.changes
        let seen = changes.pendingInserted.all.filter { !$0.flags.contains(.inserted) }
        let inserted = changes.inserted.all
        var deleted = changes.deleted.all
        let updated = changes.updated.all
        let known = inserted.filter { !$0.flags.contains(.pendingInserted) }
        let refreshed = changes.pendingRefreshed.all
        changes.removeAll()
        let gone = deleted.filter { $0.flags.contains(.inaccessible) }
        for object in inserted + seen + gone { context.letGo(object) }
        deleted.removeAll { $0.managedObjectContext == nil }
        for object in deleted + updated { revert(object) }
        var info: [AnyHashable: Any] = [:]
        if !known.isEmpty { info[NSDeletedObjectsKey] = Set(known) }
        if !deleted.isEmpty { info[NSInsertedObjectsKey] = Set(deleted) }
        let other = Set(updated + refreshed).subtracting(deleted)
        if !other.isEmpty { info[NSRefreshedObjectsKey] = other }
        guard !info.isEmpty else { return }
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didChangeObjectsNotification, object: context, userInfo: info)
    }

    /// Back to the saved values; transient ones are dropped with the changes.
    private func revert(_ object: NSManagedObject) {
        object.values = []
        for (_, state) in object.touchedToMany { state.revert() }
        object.awake(fromSnapshotEvents: .rollback)
    }

    func reset() {
        context.requireQueue()
        context.undoRecorder.forgetAll()
        let objects = context.registry.all
        context.changes.removeAll()
        context.registry.removeAll()
        context.manualChanges = [:]
        for object in objects {
            object.managedObjectContext = nil
            object.relations = []
            object.baseline = nil
        }
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didChangeObjectsNotification, object: context,
            userInfo: [NSInvalidatedAllObjectsKey: objects.map(\.objectID)])
    }
}
