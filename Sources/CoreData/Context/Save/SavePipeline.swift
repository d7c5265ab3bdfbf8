import Foundation

/// Saves a context: hooks, validation, permanent IDs (reserved in an earlier transaction), one transaction for each
/// store, and then notifications. With a parent, the changes are passed to the parent instead of stores.
///
/// Until a store commits, the context changes only by what hooks and merge policies do, and by the permanent IDs of new
/// objects.
final class SavePipeline {
    // SAFETY: the context owns the pipeline, and the caller of a save holds the context.
    private let unretained: Unretained<NSManagedObjectContext>
    var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private var lockedObjects: [NSManagedObject] = []
    private var isSaving = false
    /// True if objects are validated before they are written. A migration validates all of its objects at its end.
    var validates = true
    /// Receives the progress of the current save; usually `nil`.
    private(set) var reporter: SaveReporter?
    /// Objects that cannot be saved any more, until a reset or a rollback.
    var lost = LostObjects()

    /// The maximum number of rounds in which hooks change objects.
    private static let hookLimit = 1000

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    private var changes: ChangeTracker { context.changes }

    /// Runs `body`, a save, which reports its progress to `reporter`.
    func reporting(to reporter: SaveReporter, _ body: () throws -> Void) rethrows {
        let before = self.reporter
        self.reporter = reporter
        defer { self.reporter = before }
        try body()
    }

    /// Stops reporting: observers of the save's end may save again.
    func endReporting() { reporter = nil }

    func save() throws {
        context.requireQueue("save()")
        precondition(!isSaving, "save() was called on a context while it was saving. Save again after it returns.")
        try context.events.keepingSets(saveChanges)
    }

    private func saveChanges() throws {
        try lost.check()
        context.events.process(propagatesDeletes: true, isForSave: true)
        guard changes.hasChanges else { return try saveNothing() }
        guard let source = context.source, source.coordinator != nil else {
            throw CoreDataError.make(
                134030, "This NSManagedObjectContext has no persistent store coordinator: it cannot save.")
        }
        isSaving = true
        defer { isSaving = false }
        if reporter != nil { try findLock(source) }
        try context.faults.readUnread()
        try announce()
        if validates { try validate() }
        // Hooks and validation may have touched more objects that could not be read.
        try context.faults.readUnread()
        if let parent = source.parent { try handOver(to: parent) } else { try writeToStores() }
        // A merge policy may have changed objects during the save.
        if changes.hasPending { context.processPendingChanges() }
        context.registry.tellStores()
    }

    /// Finishes a save without changes, which at most writes metadata and still posts its notifications.
    private func saveNothing() throws {
        NotificationCenter.default.post(name: NSManagedObjectContext.willSaveObjectsNotification, object: context)
        try context.source?.saveMetadata()
        SaveCompletion(context: context).postNothing()
    }

    func lock(_ object: NSManagedObject) {
        guard !object.flags.contains(.locked) else { return }
        object.flags.insert(.locked)
        lockedObjects.append(object)
    }

    // MARK: Before writing

    /// Throws if another process has locked the store, so that a large save fails before its objects are validated.
    /// Checks only if the coordinator has one store, which is writable and reports progress.
    private func findLock(_ source: some ContextSource) throws {
        guard source.parent == nil, let stores = source.coordinator?.rowStores, stores.count == 1,
            let store = stores.first, !store.isReadOnly, let operations = store.operations as? any StagedSaving,
            operations.reportsProgress
        else { return }
        try source.withLock(operations.findLock)
    }

    private func announce() throws {
        try callWillSave()
        NotificationCenter.default.post(name: NSManagedObjectContext.willSaveObjectsNotification, object: context)
        if changes.hasPending {
            context.events.process(propagatesDeletes: true, isForSave: true)
            try callWillSave()
        }
    }

    private func callWillSave() throws {
        for _ in 0..<Self.hookLimit {
            for objects in [changes.inserted.all, changes.updated.all, changes.deleted.all] {
                objects.forEachHeld { $0.willSave() }
            }
            guard changes.hasPending else { return }
            context.events.process(propagatesDeletes: true, isForSave: true)
        }
        throw CoreDataError.make(
            134030, "willSave() changed objects \(Self.hookLimit) times in a row. Set values only if they differ.")
    }

    /// Validates until validation changes no more objects.
    func validate() throws {
        for _ in 0..<Self.hookLimit {
            var errors: [any Error] = []
            func collect(_ objects: [NSManagedObject], _ check: (NSManagedObject) throws -> Void) throws {
                try objects.forEachHeld { object in
                    do { try check(object) } catch { errors += ObjectValidation.details(of: error) }
                    try reporter?.step()
                }
            }
            let (inserted, updated, deleted) = (changes.inserted.all, changes.updated.all, changes.deleted.all)
            reporter?.begin(.checking, steps: inserted.count + updated.count + deleted.count)
            try collect(inserted) { try $0.validateForInsert() }
            try collect(updated) { try $0.validateForUpdate() }
            try collect(deleted) { try $0.validateForDelete() }
            try ObjectValidation.throwAll(errors)
            guard changes.hasPending else { return }
            context.events.process(propagatesDeletes: true, isForSave: true)
        }
        throw CoreDataError.make(
            134030, "Validation changed objects \(Self.hookLimit) times in a row. Set values only if they differ.")
    }

    // MARK: Permanent IDs

    /// Gives the new objects among `objects` their permanent IDs.
    ///
    /// - Parameter objects: Without duplicates.
    /// - Returns: the IDs, if there is one for each of `objects`, in their order; otherwise an empty array.
    @discardableResult
    func obtainPermanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        guard let source = context.source else {
            throw CoreDataError.make(
                134030, "Cannot obtain permanent IDs: the context has no persistent store coordinator. Set one first.")
        }
        let pending = PendingIDAssignment(among: objects, of: context)
        guard !pending.objects.isEmpty else { return [] }
        var all: [NSManagedObjectID] = []
        for group in try grouped(pending, by: source) {
            let own =
                group.store.wantsObjects
                ? try source.obtainPermanentIDs(of: group.pending.objects, in: group.store) : nil
            let ids = try own ?? source.obtainPermanentIDs(for: group.pending.runs, in: group.store)
            context.registry.replaceTemporaryIDs(of: group.pending.objects, by: ids, in: group.store)
            all = group.pending.objects.isSame(as: objects) ? ids : []
        }
        return all
    }

    /// Groups new objects by their store, in the order in which the stores first occur.
    private func grouped(
        _ pending: PendingIDAssignment, by source: some ContextSource
    ) throws -> [(store: any RowStore, pending: PendingIDAssignment)] {
        var choice = StoreChoice(context: context, source: source)
        if choice.isByEntity, let store = try commonStore(of: pending, source) { return [(store, pending)] }
        var groups: [(store: any RowStore, objects: [NSManagedObject])] = []
        for object in pending.objects {
            let store = try choice.store(for: object)
            let group = groups.firstIndex { $0.store === store } ?? groups.count
            if group == groups.count { groups.append((store, [])) }
            groups[group].objects.append(object)
        }
        return groups.map { ($0.store, PendingIDAssignment(among: $0.objects, of: context)) }
    }

    /// The store of all the objects, by their entities alone; `nil` if there are several stores, or some objects were
    /// assigned to one.
    private func commonStore(
        of pending: PendingIDAssignment, _ source: some ContextSource
    ) throws -> (any RowStore)? {
        guard let first = pending.runs.first, !pending.areSomeAssigned else { return nil }
        let store = try source.store(for: first.entity)
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(first.entity)]
        for run in pending.runs where seen.insert(ObjectIdentifier(run.entity)).inserted {
            if try source.store(for: run.entity) !== store { return nil }
        }
        return store
    }

    // MARK: Writing

    /// Writes those objects of a request that belong to the context and have changes.
    func write(_ request: NSSaveChangesRequest) throws {
        context.requireQueue("execute(_:)")
        for object in request.lockedObjects ?? [] { lock(object) }
        let all = [request.insertedObjects, request.updatedObjects, request.deletedObjects, request.lockedObjects]
        try writeToStores(only: Set(all.compactMap { $0 }.joined()))
    }

    /// Obtains IDs, builds each store's changes and saves them. After a conflict, the merge policy is applied and
    /// everything is built again.
    ///
    /// - Parameter chosen: the objects to write; `nil` for all that have changes.
    func writeToStores(only chosen: Set<NSManagedObject>? = nil) throws {
        guard let source = context.source else { return }
        var resolver = ConflictResolver(context: context)
        var plans: [StorePlan] = []
        var derived: [NSManagedObjectID: RowSnapshot]?
        while derived == nil {
            let inserted = changes.inserted.all
            let ids = try obtainPermanentIDs(for: chosen.map { inserted.filter($0.contains) } ?? inserted)
            plans = try SavePlanner(context: context, locked: lockedObjects, chosen: chosen, newIDs: ids).makePlans()
            for index in plans.indices where plans[index].store.wantsObjects { plans[index].bringObjects() }
            do {
                derived = try save(plans.filter { !$0.changes.isEmpty }.map { ($0.changes, $0.store) }, to: source)
            } catch let found as StoreConflicts {
                try resolver.resolve(found)
            } catch let incomplete as MultiStoreSave.Incomplete {
                try report(incomplete, plans)
            } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == 133021 {
                try resolver.resolve(plans, refusedWith: error)
            }
        }
        settle(plans, derived: derived ?? [:])
    }

    /// Finishes the save. Observers may save again from here on.
    private func settle(_ plans: [StorePlan], derived: [NSManagedObjectID: RowSnapshot], failed: [any RowStore] = []) {
        isSaving = false
        context.generation.advance()
        unlock { object in !failed.contains { $0 === object.objectID.rowStore } }
        SaveCompletion(context: context).finish(plans, derived: derived)
    }

    /// Saves to the stores. Reports progress if the only store can; reads during its write see the state before.
    private func save(
        _ parts: [MultiStoreSave.Part], to source: some ContextSource
    ) throws -> [NSManagedObjectID: RowSnapshot] {
        guard let reporter, parts.count == 1, let (changes, store) = parts.first,
            (store.operations as? any StagedSaving)?.reportsProgress == true
        else { return try source.save(parts) }
        return try context.generation.keepingState { isKept in
            var changes = changes
            guard isKept else { return try source.save(parts) }
            changes.reporter = reporter
            reporter.writing = store.operations as? any StagedSaving
            defer { reporter.writing = nil }
            return try source.save([(changes, store)])
        }
    }

    // MARK: Saving into the parent

    /// Passes the changes to the parent. After a conflict, the merge policy is applied and everything is passed again.
    func handOver(to parent: NSManagedObjectContext) throws {
        var resolver = ConflictResolver(context: context)
        while true {
            do {
                let changes = try HandedChanges(of: context, locked: lockedObjects)
                let saved = try ParentSave(parent: parent).take(changes)
                isSaving = false
                unlock()
                return SaveCompletion(context: context).finish(saved)
            } catch let found as StoreConflicts {
                try resolver.resolve(found)
            }
        }
    }

    /// Clears the marks of `detectConflicts(for:)`.
    func unlock(where isSaved: (NSManagedObject) -> Bool = { _ in true }) {
        for object in lockedObjects where isSaved(object) { object.flags.remove(.locked) }
        lockedObjects.removeAll(where: isSaved)
    }

    /// Settles the changes of the stores that committed, keeps those of the others unsaved, and throws.
    private func report(_ incomplete: MultiStoreSave.Incomplete, _ plans: [StorePlan]) throws {
        let failed = plans.filter { plan in incomplete.failed.contains { $0 === plan.store } }
        settle(
            plans.filter { plan in !incomplete.failed.contains { $0 === plan.store } }, derived: incomplete.derived,
            failed: incomplete.failed)
        let paths = incomplete.failed.map { $0.url?.path ?? "" }.joined(separator: ", ")
        throw CoreDataError.make(
            134040, "Only a part was saved: cannot save to \(paths), but the other stores were saved.",
            underlying: incomplete.error,
            userInfo: [
                NSAffectedStoresErrorKey: incomplete.failed, NSAffectedObjectsErrorKey: failed.flatMap(\.objects),
            ])
    }
}
