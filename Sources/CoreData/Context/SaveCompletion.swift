import Foundation

/// What happens once stores have committed: objects take over their new rows, hooks are called, the news is posted.
struct SaveCompletion {
    let context: NSManagedObjectContext

    func finish(_ plans: [StorePlan], locked: [NSManagedObject]) {
        let saved = settle(plans)
        let derived = adoptDerived(plans)
        for object in saved.inserted + saved.updated + saved.deleted { object.didSave() }
        post(saved)
        context.source?.didCommit(committed(saved, plans), from: context)
        for object in saved.deleted { context.letGo(object) }
        derived?.announceDerived()
    }

    private struct Saved {
        var inserted: [NSManagedObject] = []
        var updated: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []
    }

    // MARK: Objects

    /// The saved values are the committed ones from now on, and the objects leave the lists of changes.
    private func settle(_ plans: [StorePlan]) -> Saved {
        var saved = Saved()
        for plan in plans {
            for (object, row) in plan.written { adopt(row, object) }
            for object in plan.objects {
                if object.flags.contains(.inserted) {
                    saved.inserted.append(object)
                    object.flags.insert(.stored)
                } else if object.flags.contains(.deleted) {
                    saved.deleted.append(object)
                    object.flags.remove(.stored)
                } else {
                    saved.updated.append(object)
                }
                for (_, state) in object.touchedToMany {
                    if object.flags.contains(.stored) { state.commit() } else { state.disownByStore() }
                }
                context.changes.settle(object)
            }
        }
        return saved
    }

    /// Takes over the values that the stores derived; `nil` where there are none.
    private func adoptDerived(_ plans: [StorePlan]) -> MergeWork? {
        guard plans.contains(where: { !$0.derived.isEmpty }) else { return nil }
        var work = MergeWork(context: context)
        for plan in plans { work.adoptDerived(plan.derived) }
        return work
    }

    private func adopt(_ row: RowSnapshot, _ object: NSManagedObject) {
        let traits = object.layout.traits
        let announced = object.announcing(
            traits.derivedSlots.filter { row.values[$0] != object.currentValue($0) }.map { .attribute($0) })
        defer { announced?.end() }
        let keepsTransient =
            traits.hasTransient && !object.values.isEmpty
            && object.values.indices.contains { traits.isTransient[$0] && !object.values[$0].isNull }
        if keepsTransient {
            var values = row.values
            for slot in values.indices where traits.isTransient[slot] { values[slot] = object.values[slot] }
            object.values = values
        } else {
            object.values = []
        }
        object.snapshot = row
    }

    // MARK: News

    private func committed(_ saved: Saved, _ plans: [StorePlan]) -> CommittedChanges {
        var changes = CommittedChanges()
        changes.inserted = saved.inserted.map(\.objectID)
        changes.updated = saved.updated.map(\.objectID)
        changes.deleted = saved.deleted.map(\.objectID)
        changes.rows = plans.flatMap { plan in
            plan.written.map { written in
                let id = written.object.objectID
                return (id, plan.derived.isEmpty ? written.row : plan.derived[id] ?? written.row)
            }
        }
        // What the stores derived for other rows is read by whoever merges: it has no version by which it could be late.
        for plan in plans where !plan.derived.isEmpty {
            let written = Set(plan.written.map(\.object.objectID))
            changes.updated += plan.derived.keys.filter { !written.contains($0) }
        }
        return changes
    }

    private func post(_ saved: Saved) {
        let center = NotificationCenter.default
        var info: [String: Any] = [
            NSInsertedObjectsKey: Set(saved.inserted), NSUpdatedObjectsKey: Set(saved.updated),
            NSDeletedObjectsKey: Set(saved.deleted),
        ]
        // Where the state cannot be read now, the next reading says why.
        info[NSManagedObjectContextQueryGenerationKey] = try? context.generation.resolvedToken()
        center.post(name: NSManagedObjectContext.didSaveObjectsNotification, object: context, userInfo: info)
        center.post(
            name: NSManagedObjectContext.didSaveObjectIDsNotification, object: context,
            userInfo: [
                NSInsertedObjectIDsKey: Set(saved.inserted.map(\.objectID)),
                NSUpdatedObjectIDsKey: Set(saved.updated.map(\.objectID)),
                NSDeletedObjectIDsKey: Set(saved.deleted.map(\.objectID)),
            ])
    }
}
