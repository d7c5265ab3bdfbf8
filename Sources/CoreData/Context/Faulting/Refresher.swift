import Foundation

/// Resets objects to their stored values: refresh, rollback, reset, and rows from merges.
final class Refresher {
    // SAFETY: the context owns it and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }

    /// Faults that were recently refreshed one by one: they are likely to be used one by one, too.
    private var openBatch = FaultBatch.open()

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: Refresh

    /// Refreshes objects. If values are merged and the store cannot be read, the objects stay as they are.
    ///
    /// - Parameter keepsTransient: true if transient values keep an object without changes from becoming a fault.
    func refresh(_ objects: [NSManagedObject], mergeChanges: Bool, keepsTransient: Bool = true) {
        context.requireQueue("refresh(_:mergeChanges:)")
        context.faults.ahead.forgetLists()
        if mergeChanges { readBeneathInsertions(objects) }
        let known = objects.filter { $0.managedObjectContext === context && $0.flags.contains(.stored) }
        let stored = known.filter { !$0.isDeleted }
        guard mergeChanges else {
            for object in stored { turnIntoFault(object) }
            for object in objects where object.managedObjectContext === context && object.flags.contains(.inserted) {
                turnNewIntoFault(object)
            }
            return readTogether(stored)
        }
        readBeneathDeletions(known.filter { $0.isDeleted })
        var kept: [NSManagedObject] = []
        var dropped: [NSManagedObject] = []
        for object in stored {
            if !object.isFault, keepsValues(object, keepsTransient) {
                kept.append(object)
            } else if dropRow(of: object) {
                dropped.append(object)
            }
        }
        readTogether(dropped)
        do {
            try readAnew(kept)
        } catch {
            context.faults.unread.didFail(kept, error)
        }
    }

    /// True if an object has values that the store does not have and a refresh keeps.
    private func keepsValues(_ object: NSManagedObject, _ keepsTransient: Bool) -> Bool {
        guard keepsTransient else { return object.hasChanges && ChangedValues.differsFromSaved(object) }
        if object.hasChanges { return true }
        let traits = object.layout.traits
        return traits.hasTransient
            && object.layout.slots.indices.contains {
                traits.isTransient[$0] && object.currentValue($0) != traits.transientStart[$0]
            }
    }

    /// Drops the row, which is read again when it is used.
    ///
    /// - Returns: true if there was one.
    private func dropRow(of object: NSManagedObject) -> Bool {
        guard object.isFault else {
            turnIntoFault(object)
            return true
        }
        object.forgetFetched()
        for (number, state) in object.touchedToMany where state.isLoaded {
            object.changing(.toMany(number)) { state.turnIntoFault() }
        }
        guard object.snapshot != nil else { return false }
        object.snapshot = nil
        return true
    }

    /// Joins adjacent rows to batches, so one query reads a batch when one of its objects is used.
    private func readTogether(_ objects: [NSManagedObject]) {
        guard objects.count > 1 else { return objects.first.map(readWithOthers) ?? () }
        // Objects that only the parent has yet have no row key.
        var rows: [(key: RowKey, object: NSManagedObject)] = []
        var new: [NSManagedObject] = []
        for object in objects {
            if let key = object.rowKey { rows.append((key, object)) } else { new.append(object) }
        }
        rows.sort { ($0.key.entity, $0.key.reference) < ($1.key.entity, $1.key.reference) }
        FaultBatch.join(rows.map(\.object) + new, size: FaultBatch.defaultSize)
    }

    /// Adds a fault to the open batch of faults that were refreshed before it and not read yet.
    private func readWithOthers(_ object: NSManagedObject) {
        guard object.waitsForRow, object.faultBatch !== openBatch, !openBatch.admit(object) else { return }
        compact(openBatch)
        openBatch = .open()
        _ = openBatch.admit(object)
    }

    /// Stores the objects that still wait by row key, which takes less memory than IDs.
    private func compact(_ batch: FaultBatch) {
        let members = batch.header.ids.compactMap(context.registry.registered).filter { $0.faultBatch === batch }
        FaultBatch.join(members, size: FaultBatch.defaultSize)
    }

    private func readAnew(_ objects: [NSManagedObject]) throws {
        guard !objects.isEmpty, let source = context.source else { return }
        let rows = try source.rows(inOrderOf: objects.map(\.objectID))
        for (object, row) in zip(objects, rows) {
            if let row { adopt(row, for: object, as: .refresh) } else { rowWasDeleted(object) }
        }
    }

    /// Reads the rows of objects deleted here, so an undo or rollback restores them with current values. Rows that
    /// cannot be read stay as they were.
    private func readBeneathDeletions(_ objects: [NSManagedObject]) {
        guard !objects.isEmpty, let rows = try? context.source?.rows(for: objects.map(\.objectID)) else { return }
        let gone = objects.filter { rows[$0.objectID] == nil }
        for object in gone { object.flags.insert(.inaccessible) }
        _ = GoneDestinations(context: context, ids: gone.map(\.objectID)).forget()
        for object in objects {
            guard let row = rows[object.objectID] else { continue }
            if object.flags.contains(.inaccessible) {
                // Another context or process restored the row.
                object.flags.remove(.inaccessible)
                if object.snapshot?.values.allSatisfy(\.isNull) ?? true {
                    turnIntoFault(object)
                    continue
                }
            }
            if object.snapshot != nil { put(row, beneath: object) }
        }
    }

    /// Turns objects that were deleted and saved, and restored by undo as new ones, into updated ones if their rows
    /// were also restored in the store or parent. Their changes stay on top.
    private func readBeneathInsertions(_ objects: [NSManagedObject]) {
        let revived = objects.filter { object in
            guard object.flags.contains(.inserted), object.managedObjectContext === context else { return false }
            return object.snapshot.map { $0.version > 0 || $0.isUnsaved } ?? false
        }
        guard !revived.isEmpty, let rows = try? context.source?.rows(for: revived.map(\.objectID)) else { return }
        for object in revived {
            guard object.snapshot != nil, let row = rows[object.objectID] else { continue }
            context.changes.turnIntoUpdate(object)
            put(row, beneath: object)
        }
    }

    private func turnIntoFault(_ object: NSManagedObject) {
        let announced = object.announcingEverything()
        defer { announced?.end() }
        object.willTurnIntoFault()
        takeBackRelationships(of: object)
        context.changes.forget(object)
        object.values = []
        object.snapshot = nil
        object.forgetRelations()
        object.flags.insert(.fault)
        object.didTurnIntoFault()
        context.changes.noteRefresh(object)
    }

    /// Drops the values of a new object, which starts again with its defaults when it is used. It stays inserted.
    private func turnNewIntoFault(_ object: NSManagedObject) {
        guard !object.isFault else { return }
        let announced = object.announcingEverything()
        defer { announced?.end() }
        object.willTurnIntoFault()
        takeBackRelationships(of: object)
        object.values = []
        object.forgetRelations()
        object.flags.insert(.fault)
        object.didTurnIntoFault()
    }

    /// Reverts changed relationships to their saved values, with their inverses.
    func takeBackRelationships(of object: NSManagedObject) {
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

    /// Gives an object its new row: unsaved changes stay on top of it, and its to-many relationships are read again
    /// when they are used. A fault only takes the row.
    func adopt(_ row: RowSnapshot, for object: NSManagedObject, as event: NSSnapshotEventType) {
        guard !object.isFault else {
            object.snapshot = row
            return
        }
        object.forgetFetched()
        put(row, beneath: object)
        object.awake(fromSnapshotEvents: event)
        context.changes.noteRefresh(object)
    }

    /// Makes a row that was read again the base of the object's changes. Transient values stay, and to-many
    /// relationships are read again when they are used.
    private func put(_ row: RowSnapshot, beneath object: NSManagedObject) {
        rebase(object, on: object.snapshot.map { keepingTransientValues(of: $0, in: row, object.layout.traits) } ?? row)
        for (number, state) in object.touchedToMany where state.isLoaded {
            object.changing(.toMany(number)) { state.turnIntoFault() }
        }
    }

    /// Replaces the row that the object's changes are based on.
    func rebase(_ object: NSManagedObject, on row: RowSnapshot) {
        let announced = object.announcing(places(of: object, changedBy: row))
        defer { announced?.end() }
        let farEnds = InverseReconciler(before: object)
        if object.hasOwnValues, let base = object.snapshot {
            let isTransient = object.layout.traits.isTransient
            for slot in isTransient.indices where !isTransient[slot] {
                if ChangedValues.same(object.currentValue(slot), base.values[slot], object) {
                    object.write(row.values[slot], slot: slot)
                }
            }
        }
        object.snapshot = row
        farEnds?.follow()
    }

    /// The properties whose values change when `row` replaces the row that the object's changes are based on.
    private func places(of object: NSManagedObject, changedBy row: RowSnapshot) -> [EntityLayout.Place] {
        guard let base = object.snapshot else { return [] }
        let isTransient = object.layout.traits.isTransient
        return row.values.indices.filter { slot in
            !isTransient[slot] && row.values[slot] != base.values[slot]
                && (!object.hasOwnValues || ChangedValues.same(object.currentValue(slot), base.values[slot], object))
        }.map(object.layout.place(ofSlot:))
    }

    /// Handles a row that another context or process deleted: the object is posted as deleted and leaves the context. A
    /// save does not write it.
    func rowWasDeleted(_ object: NSManagedObject) {
        context.changes.forget(object)
        forgetInNeighbours(object)
        object.flags.remove(.stored)
        object.flags.insert(.inaccessible)
        context.changes.noteDeletion(object)
        _ = GoneDestinations(context: context, ids: [object.objectID]).forget()
    }

    /// Removes the object from the loaded relationships of other objects. This does not count as a change of these
    /// objects.
    func forgetInNeighbours(_ object: NSManagedObject) {
        guard !object.isFault else { return }
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            guard let relationship = object.layout.slots[slot] as? NSRelationshipDescription,
                let inverse = relationship.inverseRelationship,
                case .reference(let id) = object.currentValue(slot), let far = context.registry.registered(id),
                case .toMany(let number) = far.layout.place(of: inverse.name)
            else { continue }
            far.changing(.toMany(number)) { far.knownToManyState(number)?.discard(object) }
        }
        for (number, state) in object.touchedToMany {
            guard let inverse = object.layout.toManyRelationships[number].inverseRelationship else { continue }
            for far in state.contents {
                guard case .toMany(let number) = far.layout.place(of: inverse.name) else { continue }
                far.changing(.toMany(number)) { far.knownToManyState(number)?.discard(object) }
            }
        }
    }

    // MARK: Rollback and reset

    func rollback() {
        context.requireQueue("rollback()")
        context.savePipeline.lost = LostObjects()
        context.savePipeline.unlock()
        context.undoManager?.removeAllActions()
        let changes = context.changes
        let seen = changes.pendingInserted.all.filter { !$0.flags.contains(.inserted) }
        let inserted = changes.inserted.all
        // Objects that were posted as inserted in an earlier event and deleted in this one, or whose rows others
        // deleted.
        let dropped = changes.pendingDeleted.all.filter {
            $0.flags.contains(.dropped) && !$0.flags.contains(.pendingInserted)
        }
        var deleted = changes.deleted.all
        let updated = changes.updated.all
        let known = inserted.filter { !$0.flags.contains(.pendingInserted) } + dropped
        let refreshed = changes.pendingRefreshed.all
        changes.removeAll()
        let gone = deleted.filter { $0.flags.contains(.inaccessible) }
        context.letGo(inserted + seen + gone + dropped)
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

    /// Reverts an object to its saved values and drops transient ones.
    private func revert(_ object: NSManagedObject) {
        let announced = object.announcing(
            ChangedValues.differingSlots(of: object).map(object.layout.place(ofSlot:))
                + ChangedValues.changedToMany(of: object).map { .toMany($0) })
        defer { announced?.end() }
        object.values = []
        for (_, state) in object.touchedToMany { state.revert() }
        object.awake(fromSnapshotEvents: .rollback)
    }

    func reset() {
        context.requireQueue("reset()")
        context.savePipeline.lost = LostObjects()
        context.savePipeline.unlock()
        context.faults.ahead.forgetAll()
        context.generation.advance()
        context.undoRecorder.forgetAll()
        openBatch = .open()
        let keepsAll = context.retainsRegisteredObjects
        var objects = context.registry.takeAll()
        var ids: [NSManagedObjectID] = []
        ids.reserveCapacity(objects.count)
        for index in objects.indices {
            // The change tracker still holds changed objects.
            let isUsed = keepsAll || !isKnownUniquelyReferenced(&objects[index])
            let object = objects[index]
            // A weak reference may find an object that is about to be released.
            object.leave()
            guard isUsed else { continue }
            ids.append(object.passingID)
            object.forgetRelations()
            object.baseline = nil
            object.values = []
            object.snapshot = nil
            object.flags.formUnion([.fault, .inaccessible])
        }
        context.changes.removeAll()
        context.manualChanges = [:]
        context.registry.tellStores()
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didChangeObjectsNotification, object: context,
            userInfo: [NSInvalidatedAllObjectsKey: ids])
    }
}
