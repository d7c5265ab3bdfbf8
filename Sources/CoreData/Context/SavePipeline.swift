import Foundation

/// Saves a context: hooks, validation, permanent IDs, one transaction for each store, and then the news.
///
/// Nothing of the context changes before a store has committed, except what hooks and merge policies do, and that new
/// objects have permanent IDs from then on.
final class SavePipeline {
    private unowned(unsafe) let context: NSManagedObjectContext
    private var lockedObjects: [NSManagedObject] = []
    private var isSaving = false

    /// How often hooks may change objects again, and how often a conflict may follow a conflict.
    private static let hookLimit = 1000
    private static let conflictLimit = 20

    init(context: NSManagedObjectContext) { self.context = context }

    private var changes: ChangeTracker { context.changes }

    func save() throws {
        context.requireQueue()
        precondition(!isSaving, "A context cannot be saved from within its own save.")
        context.events.process(propagatesDeletes: true)
        guard changes.hasChanges else { return }
        guard context.source != nil else {
            throw CoreDataError.make(
                134030, "This NSManagedObjectContext has no persistent store coordinator: it cannot save.")
        }
        isSaving = true
        defer { isSaving = false }
        try announce()
        try validate()
        try write()
        // What a merge policy changed.
        if changes.hasPending { context.processPendingChanges() }
    }

    func lock(_ object: NSManagedObject) {
        guard !object.flags.contains(.locked) else { return }
        object.flags.insert(.locked)
        lockedObjects.append(object)
    }

    // MARK: Before

    private func announce() throws {
        try callWillSave()
        NotificationCenter.default.post(name: NSManagedObjectContext.willSaveObjectsNotification, object: context)
        if changes.hasPending {
            context.events.process(propagatesDeletes: true)
            try callWillSave()
        }
    }

    private func callWillSave() throws {
        for _ in 0..<Self.hookLimit {
            for object in changes.inserted.all + changes.updated.all + changes.deleted.all { object.willSave() }
            guard changes.hasPending else { return }
            context.events.process(propagatesDeletes: true)
        }
        throw CoreDataError.make(
            134030, "willSave() changed objects \(Self.hookLimit) times in a row: let it change only what must change.")
    }

    /// Validates until no validation changes anything.
    private func validate() throws {
        for _ in 0..<Self.hookLimit {
            var errors: [NSError] = []
            func collect(_ objects: [NSManagedObject], _ check: (NSManagedObject) throws -> Void) {
                for object in objects {
                    do { try check(object) } catch { errors += ObjectValidation.details(of: error as NSError) }
                }
            }
            collect(changes.inserted.all) { try $0.validateForInsert() }
            collect(changes.updated.all) { try $0.validateForUpdate() }
            collect(changes.deleted.all) { try $0.validateForDelete() }
            try ObjectValidation.throwAll(errors)
            guard changes.hasPending else { return }
            context.events.process(propagatesDeletes: true)
        }
        throw CoreDataError.make(
            134030, "Validation changed objects \(Self.hookLimit) times in a row: let it change only what must change.")
    }

    // MARK: Permanent IDs

    func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        guard let source = context.source else {
            throw CoreDataError.make(134030, "A context without a coordinator has no store to give permanent IDs.")
        }
        let fresh = objects.filter { $0.managedObjectContext === context && $0.objectID.isTemporaryID }
        guard !fresh.isEmpty else { return }
        var groups: [(store: NSPersistentStore, objects: [NSManagedObject])] = []
        var groupOfLayout: [ObjectIdentifier: Int] = [:]
        var last: (layout: EntityLayout, group: Int)?
        for object in fresh {
            let layout = object.layout
            let assigned = object.objectID.persistentStore
            if assigned == nil, let last, last.layout === layout {
                groups[last.group].objects.append(object)
                continue
            }
            let known = assigned == nil ? groupOfLayout[ObjectIdentifier(layout)] : nil
            let group = try known ?? groupIndex(of: assigned ?? source.store(for: layout.entity))
            groups[group].objects.append(object)
            if assigned == nil {
                groupOfLayout[ObjectIdentifier(layout)] = group
                last = (layout, group)
            }
        }
        func groupIndex(of store: NSPersistentStore) -> Int {
            if let known = groups.firstIndex(where: { $0.store === store }) { return known }
            groups.append((store, []))
            return groups.count - 1
        }
        for (store, objects) in groups {
            let ids = try source.obtainPermanentIDs(for: objects.map(\.layout.entity), in: store)
            context.registry.reserve(ids.count, in: store)
            for (object, id) in zip(objects, ids) {
                context.registry.replaceTemporaryID(of: object, by: id)
            }
        }
    }

    // MARK: Writing

    /// Obtains IDs, builds each store's changes and saves them; a conflict goes to the merge policy, and all is built anew.
    private func write() throws {
        guard let source = context.source else { return }
        var committed: [StorePlan] = []
        var conflicts = 0
        let updated = changes.updated.all
        try context.faults.fetchRows(of: (updated + changes.deleted.all).filter { $0.snapshot == nil })
        rounds: while true {
            try obtainPermanentIDs(for: changes.inserted.all)
            let plans = try SavePlanner(context: context, locked: lockedObjects).makePlans()
            for plan in plans where !committed.contains(where: { $0.store === plan.store }) {
                do {
                    if !plan.changes.isEmpty { try source.save(plan.changes, to: plan.store) }
                    committed.append(plan)
                } catch let found as StoreConflicts {
                    conflicts += 1
                    try resolve(found, giveUp: conflicts > Self.conflictLimit)
                    continue rounds
                } catch  where !committed.isEmpty {
                    try reportPartialSave(committed, failed: plan, error)
                }
            }
            break
        }
        // From here on everything is settled, and whoever hears of the save may save again.
        isSaving = false
        SaveCompletion(context: context).finish(committed, locked: takeLocked())
    }

    private func takeLocked() -> [NSManagedObject] {
        let taken = lockedObjects
        lockedObjects = []
        for object in taken { object.flags.remove(.locked) }
        return taken
    }

    /// Some stores have committed, one has not: what is saved is saved, the rest stays to be saved.
    private func reportPartialSave(_ committed: [StorePlan], failed: StorePlan, _ error: any Error) throws {
        SaveCompletion(context: context).finish(committed, locked: [])
        throw CoreDataError.make(
            134040, "The store \(failed.store.url?.path ?? "") could not be saved, but others were.", underlying: error,
            userInfo: [
                NSAffectedStoresErrorKey: [failed.store], NSAffectedObjectsErrorKey: failed.objects,
            ])
    }

    private func resolve(_ found: StoreConflicts, giveUp: Bool) throws {
        let conflicts = found.rows.compactMap { row -> NSMergeConflict? in
            guard let object = context.registry.registered(row.id) else { return nil }
            return NSMergeConflict(object, current: row.current)
        }
        let policy = giveUp ? NSMergePolicy.error : context.mergePolicy as? NSMergePolicy ?? .error
        guard !conflicts.isEmpty else { throw NSMergePolicy.unresolved([]) }
        try policy.resolve(mergeConflicts: conflicts)
    }
}
