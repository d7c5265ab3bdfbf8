import Foundation

/// The objects and rows that a save wrote.
struct SavedObjects {
    /// All objects whose changes were saved.
    var objects: [NSManagedObject] = []
    /// The new rows of the objects that were written.
    var written = WrittenRows()
    /// Rows that the stores changed as a side effect.
    var derived: [NSManagedObjectID: RowSnapshot] = [:]
}

/// Finishes a save after the stores committed or the parent accepted the changes: gives the objects their new rows,
/// calls hooks, and notifies observers.
struct SaveCompletion {
    let context: NSManagedObjectContext

    /// Completes a save after the stores were written.
    ///
    /// - Parameter derived: the rows with values that stores derived, of objects that were written and of others.
    func finish(_ plans: [StorePlan], derived: [NSManagedObjectID: RowSnapshot] = [:]) {
        if plans.count == 1 {
            return finish(SavedObjects(objects: plans[0].objects, written: plans[0].written, derived: derived))
        }
        var batch = SavedObjects(objects: plans.flatMap(\.objects), derived: derived)
        for plan in plans { batch.written.append(plan.written) }
        finish(batch)
    }

    func finish(_ batch: SavedObjects) {
        reporter?.begin(.settling, steps: batch.written.objects.count + batch.objects.count)
        let saved = settle(batch)
        let derived = adoptDerived(batch.derived)
        let changes = committed(saved, batch)
        context.savePipeline.endReporting()
        for objects in [saved.inserted, saved.updated, saved.deleted] {
            objects.forEachHeld { $0.didSave() }
        }
        post(saved, changes)
        context.source?.didCommit(changes, from: context)
        context.tellChildren(changes, from: context)
        context.letGo(saved.deleted)
        derived?.announceDerived()
    }

    private var reporter: SaveReporter? { context.savePipeline.reporter }

    private struct Saved {
        var inserted: [NSManagedObject] = []
        var updated: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []
        /// Members whose rows were written only for their position in an owner's list. Other contexts must be notified
        /// of these, too.
        var moved: [NSManagedObject] = []

        /// All objects whose rows other contexts must read again.
        var updatedRows: [NSManagedObject] { moved.isEmpty ? updated : updated + moved }
    }

    // MARK: Objects

    /// Makes the saved values the committed ones, and removes the objects from the lists of changes.
    private func settle(_ batch: SavedObjects) -> Saved {
        let reporter = reporter
        if context.changes.areOnlyInsertions(batch.objects), batch.objects.isSame(as: batch.written.objects) {
            return settleInsertions(batch)
        }
        var saved = Saved()
        var number = 0
        batch.written.objects.forEachHeld { object in
            if object.flags.isDisjoint(with: .unsaved) { saved.moved.append(object) }
            adopt(batch.written.rows[number].row, object)
            number += 1
            reporter?.stepOn()
        }
        saved.inserted = batch.objects.keeping { $0.flags.contains(.inserted) }
        if saved.inserted.count < batch.objects.count {
            let others = batch.objects.filter { !$0.flags.contains(.inserted) }
            saved.updated = others.keeping { !$0.flags.contains(.deleted) }
            saved.deleted = others.keeping { $0.flags.contains(.deleted) }
        }
        saved.inserted.forEachHeld { $0.flags.insert(.stored) }
        saved.deleted.forEachHeld { $0.flags.remove(.stored) }
        batch.objects.forEachHeld { object in
            object.forEachTouchedToMany { _, state in
                if object.flags.contains(.stored) { state.commit() } else { state.disownByStore() }
            }
            reporter?.stepOn()
        }
        context.changes.settle(batch.objects)
        return saved
    }

    /// Completes a save of new objects only, in one pass over these.
    private func settleInsertions(_ batch: SavedObjects) -> Saved {
        let marks = context.changes.insertionMarks
        let reporter = reporter
        var number = 0
        batch.objects.forEachHeld { object in
            adopt(batch.written.rows[number].row, object)
            object.flags.subtract(marks)
            object.flags.insert(.stored)
            object.forEachTouchedToMany { _, state in state.commit() }
            number += 1
            reporter?.stepOn()
        }
        context.changes.settleInsertions(batch.objects)
        return Saved(inserted: batch.objects)
    }

    /// Adopts derived values. Returns the merge to announce; `nil` if there are none.
    private func adoptDerived(_ rows: [NSManagedObjectID: RowSnapshot]) -> MergeWork? {
        guard !rows.isEmpty else { return nil }
        var work = MergeWork(context: context)
        work.adoptDerived(rows)
        return work
    }

    private func adopt(_ row: RowSnapshot, _ object: NSManagedObject) {
        if object.withTraits({ $0.hasPlainSlots }) {
            object.settle(on: row)
            return
        }
        let traits = object.layout.traits
        let announced = object.announcing(
            traits.derivedSlots.filter { row.values[$0] != object.currentValue($0) }.map { .attribute($0) })
        defer { announced?.end() }
        let keepsTransient =
            traits.hasTransient && object.hasOwnValues
            && row.values.indices.contains { traits.isTransient[$0] && object.currentValue($0) != row.values[$0] }
        if keepsTransient {
            var values = row.values.array
            for slot in values.indices where traits.isTransient[slot] { values[slot] = object.currentValue(slot) }
            object.values = values
        } else {
            object.values = []
        }
        object.snapshot = row
    }

    // MARK: Notifications

    private func committed(_ saved: Saved, _ batch: SavedObjects) -> CommittedChanges {
        var changes = CommittedChanges()
        changes.inserted =
            saved.inserted.isSame(as: batch.written.objects)
            ? batch.written.rows.map(\.id) : saved.inserted.map(\.objectID)
        // Rows that were only derived are added after the written ones.
        changes.updated = saved.updatedRows.map(\.objectID)
        changes.deleted = saved.deleted.map(\.objectID)
        changes.rows = batch.written.rows
        if batch.derived.isEmpty { return changes }
        changes.rows = changes.rows.map { IdentifiedRow(id: $0.id, row: batch.derived[$0.id] ?? $0.row) }
        // A row with only derived values keeps its version and cannot be recognised as newer, so merging contexts read
        // it from the store.
        let written = Set(changes.rows.map(\.id))
        changes.updated += batch.derived.keys.filter { !written.contains($0) }
        return changes
    }

    /// Posts the notifications of a save without changes, with empty sets.
    func postNothing() { post(Saved(), CommittedChanges()) }

    private func post(_ saved: Saved, _ changes: CommittedChanges) {
        let center = NotificationCenter.default
        // Programs that merge manually also need the rows whose values the stores derived.
        let known = saved.updatedRows
        let derived = changes.updated.dropFirst(known.count).map { context.registry.object(for: $0) }
        let updated = derived.isEmpty ? context.events.set(of: known) : Set(known + derived)
        var info: [String: Any] = [
            NSInsertedObjectsKey: context.events.set(of: saved.inserted), NSUpdatedObjectsKey: updated,
            NSDeletedObjectsKey: context.events.set(of: saved.deleted),
        ]
        // If the state cannot be read now, the next read throws the reason.
        info[NSManagedObjectContextQueryGenerationKey] = try? context.generation.resolvedToken()
        info[Self.changeTokenKey] = changes.isEmpty ? nil : changeToken
        center.post(name: NSManagedObjectContext.didSaveObjectsNotification, object: context, userInfo: info)
        center.post(
            name: NSManagedObjectContext.didSaveObjectIDsNotification, object: context,
            userInfo: [
                NSInsertedObjectIDsKey: Set(held: changes.inserted),
                NSUpdatedObjectIDsKey: Set(held: changes.updated),
                NSDeletedObjectIDsKey: Set(held: changes.deleted),
            ])
    }

    private static let changeTokenKey = "newChangeToken"

    /// The end of the history after this save; `nil` in a child context, and if no store keeps a history.
    private var changeToken: NSObject? {
        guard let source = context.source, source.parent == nil else { return nil }
        return source.coordinator?.tokenOfSave
    }
}
