/// Applies a child's changes to its parent, as if they had been made there: inverses are updated, delete rules apply,
/// the parent's undo manager records one group, and its observers are notified.
///
/// The child's changes win over the parent's values. It is a conflict if the parent no longer has a changed object, or
/// released it, and others changed it in the store since the child saved it.
struct ParentSave {
    let parent: NSManagedObjectContext
    /// The rows of destinations that only the parent's own parent has.
    private var rows: [NSManagedObjectID: RowSnapshot] = [:]

    init(parent: NSManagedObjectContext) { self.parent = parent }

    /// - Returns: the child's objects and their current rows in the parent.
    /// - Throws: ``StoreConflicts`` if the parent no longer has a changed object, or others changed values that the
    ///   child read and the parent could not detect it; the store's error if it cannot be read. The parent is unchanged
    ///   then.
    func take(_ changes: HandedChanges) throws -> SavedObjects {
        try parent.queue.sync(.beneath) {
            try CurrentContext.entering(parent) {
                var work = self
                return try work.takeOnQueue(changes)
            }
        }
    }

    private mutating func takeOnQueue(_ changes: HandedChanges) throws -> SavedObjects {
        parent.processPendingChanges()
        let updated = try objects(for: changes.updated)
        rows = try unsavedRows(of: changes)
        let inserted = changes.inserted.map(insert)
        let all = Array(zip(changes.inserted, inserted)) + Array(zip(changes.updated, updated))
        for (handed, object) in all { setValues(handed, of: object) }
        for (handed, object) in all { setLists(handed, of: object) }
        for gone in changes.deleted where gone.flags.isDisjoint(with: .inaccessible) { delete(gone.objectID) }
        for object in changes.locked.compactMap(destination) { parent.savePipeline.lock(object) }
        parent.processPendingChanges()
        return result(of: all, changes)
    }

    // MARK: Objects

    /// The parent's objects for those that the child changed. An object that the parent has not read gets the row that
    /// the child read, so the store detects later changes by others.
    private func objects(for updated: [HandedChanges.Object]) throws -> [NSManagedObject] {
        let registry = parent.registry
        let started = updated.compactMap { handed -> NSManagedObject? in
            guard !handed.id.isTemporaryID, let base = handed.source.snapshot, !base.isUnsaved, base.version > 0,
                registry.registered(handed.id)?.snapshot == nil
            else { return nil }
            return registry.object(for: handed.id, row: base)
        }
        defer { withExtendedLifetime(started) {} }
        let unread = updated.filter { registry.registered($0.id)?.snapshot == nil }
        let rows = unread.isEmpty ? [:] : try parent.source?.rows(for: unread.map(\.id)) ?? [:]
        let gone = updated.filter { handed in
            guard let known = registry.registered(handed.id), known.snapshot != nil || known.isDeleted else {
                return rows[handed.id] == nil
            }
            return known.isDeleted
        }
        if !gone.isEmpty { throw StoreConflicts(rows: gone.map { ($0.id, nil) }) }
        let overtaken = updated.compactMap { handed in rows[handed.id].map { (handed.id, $0, handed) } }
            .filter { Self.isOvertaken($0.2, by: $0.1) }
        if !overtaken.isEmpty { throw StoreConflicts(rows: overtaken.map { ($0.0, $0.1) }) }
        return updated.map { registry.object(for: $0.id, row: rows[$0.id]) }
    }

    /// True if the child's values are based on its own save, the parent released the object, and others changed it
    /// since: such a base row has no version for the parent's object.
    private static func isOvertaken(_ handed: HandedChanges.Object, by row: RowSnapshot) -> Bool {
        guard let base = handed.source.snapshot, base.isUnsaved else { return false }
        return handed.slots.contains { slot, value in
            !ChangedValues.same(row.values[slot], base.values[slot], handed.source)
                && !ChangedValues.same(row.values[slot], value, handed.source)
        }
    }

    /// The parent's object for a new one of the child: created here with its hook, or restored if it was deleted.
    private func insert(_ handed: HandedChanges.Object) -> NSManagedObject {
        if let known = parent.registry.registered(handed.id) {
            if known.isDeleted { revive(known) }
            return known
        }
        let entity = handed.id.entity
        let object = parent.objectClass(of: entity).init(entity: entity, insertInto: nil)
        object.replaceIdentifier(by: handed.id)
        parent.insert(object)
        return object
    }

    /// Restores a deleted object without destinations, because the deletion removed it from their inverses.
    private func revive(_ object: NSManagedObject) {
        parent.changes.noteRevival(object)
        object.willChange()
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            object.write(.null, slot: slot)
            object.remember(nil, slot: slot)
        }
        for (_, state) in object.touchedToMany { for member in state.contents { state.remove(member) } }
    }

    private func delete(_ id: NSManagedObjectID) {
        if let object = destination(id) { parent.delete(object) }
    }

    // MARK: Values

    private func setValues(_ handed: HandedChanges.Object, of object: NSManagedObject) {
        for (slot, value) in handed.slots {
            if slot < object.layout.attributeCount {
                if object.slotValue(slot) != value { object.setAttribute(value, slot: slot) }
            } else {
                let target = target(of: value)
                if object.toOneTarget(slot) !== target { InverseUpkeep.set(target, of: object, slot: slot) }
            }
        }
    }

    /// The destination of a reference; `nil` if the parent deleted it.
    private func target(of value: SlotValue) -> NSManagedObject? {
        guard case .reference(let id) = value else { return nil }
        return destination(id)
    }

    /// The parent's object of an ID; `nil` if the parent deleted it or undid its insertion.
    private func destination(_ id: NSManagedObjectID) -> NSManagedObject? {
        if let known = parent.registry.registered(id) { return known.isDeleted ? nil : known }
        guard id.isTemporaryID else { return parent.registry.object(for: id) }
        return rows[id].map { parent.registry.object(for: id, row: $0) }
    }

    /// Reads the rows of unsaved destinations that the parent does not have. Called before anything is changed, because
    /// a destination that cannot be read would be lost.
    private func unsavedRows(of changes: HandedChanges) throws -> [NSManagedObjectID: RowSnapshot] {
        guard let source = parent.source else { return [:] }
        let brought = Set(changes.inserted.map(\.id))
        let destinations = (changes.inserted + changes.updated).flatMap { handed in
            handed.slots.compactMap { if case .reference(let id) = $0.value { id } else { nil } }
                + handed.lists.flatMap { $0.removed + $0.added + ($0.order ?? []) }
        }
        let unknown = Set(destinations + changes.deleted.map(\.objectID) + changes.locked).filter { id in
            id.isTemporaryID && !brought.contains(id) && parent.registry.registered(id) == nil
        }
        return unknown.isEmpty ? [:] : try source.rows(for: Array(unknown))
    }

    private func setLists(_ handed: HandedChanges.Object, of object: NSManagedObject) {
        for list in handed.lists {
            let number = list.number
            for member in list.removed.compactMap(destination) {
                InverseUpkeep.remove(member, from: object, number: number)
            }
            for member in list.added.compactMap(destination) {
                InverseUpkeep.add(member, to: object, number: number)
            }
            guard let order = list.order else { continue }
            // Uses the child's order, with members that the child does not know at the end.
            let state = object.loadedToManyState(number)
            let wanted = order.compactMap(destination).filter(state.contains)
            guard !state.contents.starts(with: wanted, by: ===) else { continue }
            object.willChange()
            state.reorder(by: wanted)
        }
    }

    // MARK: The child's new rows

    private func result(
        of all: [(HandedChanges.Object, NSManagedObject)], _ changes: HandedChanges
    ) -> SavedObjects {
        var result = SavedObjects(objects: all.map(\.0.source) + changes.deleted)
        for (handed, object) in all {
            let source = handed.source
            guard source.hasOwnValues || source.flags.contains(.inserted) else { continue }
            var values = source.currentValues
            // A destination that the parent no longer has is removed from the child's object, too.
            for (slot, _) in handed.slots
            where slot >= object.layout.attributeCount && object.currentValue(slot).isNull {
                values[slot] = .null
            }
            let version = object.snapshot?.version ?? 0
            result.written.append(source, handed.id, RowSnapshot.make(values, version: version, isUnsaved: true))
        }
        return result
    }
}
