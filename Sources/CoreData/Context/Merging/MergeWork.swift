import Foundation

extension Notification.Name {
    /// A context (the object) learned that a store changed in unknown ways: lists must be fetched again. Posted on the
    /// context's queue, after did-merge-object-IDs.
    static let contextHasUnknownChanges = Notification.Name("NSManagedObjectContextHasUnknownChangesNotification")
}

/// One merge into one context, from reading rows to posting notifications. Used on the context's queue.
struct MergeWork {
    private let context: NSManagedObjectContext
    private var inserted: [NSManagedObject] = []
    private var refreshed: [NSManagedObject] = []
    private var deleted: [NSManagedObject] = []
    /// Rows that were deleted without a notification.
    private var foundDeleted: [NSManagedObjectID] = []
    private var foundUpdated: [NSManagedObjectID] = []
    private var seen: Set<ObjectIdentifier> = []
    /// The previous values of refreshed objects, so observers of the merge get its changes from
    /// `changedValuesForCurrentEvent()`.
    private var baselines: [(object: NSManagedObject, baseline: EventBaseline)] = []

    init(context: NSManagedObjectContext) { self.context = context }

    // MARK: The changes of a commit

    /// Merges the changes of a commit into the context.
    ///
    /// - Parameter ifReadable: true to change nothing if a store is unavailable.
    /// - Returns: true if `changes` were merged.
    mutating func merge(_ changes: CommittedChanges, ifReadable: Bool) -> Bool {
        let inserts = changes.inserted.map(context.localID)
        let updates = changes.updated.compactMap { context.registry.registered(context.localID($0)) }
        let rows = rows(for: changes, inserts: inserts, updates: updates)
        let sweeps = changes.staleStores.map { sweep(of: $0) }
        if ifReadable, rows.isAway || sweeps.contains(where: \.rows.isAway) { return false }
        let deletes = changes.deleted.map(context.localID)
        for id in deletes { delete(id) }
        for object in updates { update(object, rows) }
        for id in inserts { insert(id, rows) }
        forgetDestinations(among: deletes)
        leaveDeleted(updates + inserted)
        for (objects, rows) in sweeps { sweep(objects, rows) }
        return true
    }

    /// Removes objects deleted here from relationships that others changed to refer to them. Fires faults for this.
    private func leaveDeleted(_ objects: [NSManagedObject]) {
        guard !context.changes.deleted.isEmpty else { return }
        for object in objects where object.snapshot != nil && !object.isDeleted {
            if object.isFault { object.fire() } else { InverseReconciler.leaveDeleted(object) }
        }
    }

    /// Drops unsaved references to rows that were deleted.
    private mutating func forgetDestinations(among deletes: [NSManagedObjectID]) {
        let gone = GoneDestinations(context: context, ids: deletes + foundDeleted)
        for object in gone.forget() { noteRefresh(object) }
    }

    /// The rows that the merge uses: those in `changes`, and the others, read with one query.
    private func rows(
        for changes: CommittedChanges, inserts: [NSManagedObjectID], updates: [NSManagedObject]
    ) -> Rows {
        let given = Dictionary(changes.rows.map { ($0.id, $0.row) }, uniquingKeysWith: { $1 })
        let wanted = inserts + updates.filter { $0.snapshot != nil }.map(\.objectID)
        let missing = wanted.filter { given[$0] == nil }
        guard !missing.isEmpty, let source = context.source else { return Rows(given: given) }
        return Rows(given: given) { try source.rows(for: missing) }
    }

    private struct Rows {
        /// The rows in `changes`. IDs of another stack on the same store are equal to this stack's.
        let given: [NSManagedObjectID: RowSnapshot]
        /// The rows that were read; `nil` if the store did not respond, so deleted rows are not known.
        private(set) var read: [NSManagedObjectID: RowSnapshot]? = [:]
        /// True if the read failed because the store is unavailable.
        private(set) var isAway = false

        init(given: [NSManagedObjectID: RowSnapshot]) { self.given = given }

        init(given: [NSManagedObjectID: RowSnapshot], reading: () throws -> [NSManagedObjectID: RowSnapshot]) {
            self.given = given
            do { read = try reading() } catch { (read, isAway) = (nil, CoreDataError.isOfStoreAway(error)) }
        }

        subscript(id: NSManagedObjectID) -> RowSnapshot? { given[id] ?? read?[id] }
    }

    private mutating func insert(_ id: NSManagedObjectID, _ rows: Rows) {
        // The context has already read the row, perhaps before another change. It is posted as inserted unless it is
        // posted as changed: an observer that did not fetch it learns of it here.
        if let known = context.registry.registered(id), known.snapshot != nil, !known.flags.contains(.dropped) {
            update(known, rows)
            if known.flags.isDisjoint(with: [.dropped, .inserted]), seen.insert(ObjectIdentifier(known)).inserted {
                inserted.append(known)
            }
            return
        }
        let row = rows[id]
        // A temporary ID that the parent does not know belongs to another tree.
        guard row != nil || !id.isTemporaryID else { return }
        let object = context.registry.object(for: id, row: row)
        if let row { forgetContents(pointingAt: object, row.values) }
        guard seen.insert(ObjectIdentifier(object)).inserted else { return }
        inserted.append(object)
    }

    private mutating func update(_ object: NSManagedObject, _ rows: Rows) {
        // A new object of this context has no row yet.
        guard object.flags.isDisjoint(with: [.dropped, .inserted]) else { return }
        guard let old = object.snapshot else {
            if forgetContents(of: object) { noteRefresh(object) }
            return
        }
        guard let row = rows[object.objectID] else {
            if rows.read != nil {
                foundDeleted.append(object.objectID)
                forgetContents(pointingAt: object, old.values)
                return delete(object)
            }
            return dropValues(of: object)
        }
        guard context.source?.supersedes(row, old) ?? true || derivedValuesDiffer(row, old, object) else { return }
        forgetContents(of: object)
        forgetContents(pointingAt: object, old.values)
        forgetContents(pointingAt: object, row.values)
        keepBaseline(of: object)
        context.refresher.adoptMerged(row, for: object)
        noteRefresh(object)
    }

    // MARK: Derived values

    /// Adopts rows with values that a store derived in a save of this context, of written objects and of others. Posts
    /// nothing.
    mutating func adoptDerived(_ rows: [NSManagedObjectID: RowSnapshot]) {
        for (id, row) in rows {
            guard let object = context.registry.registered(id), !object.flags.contains(.dropped),
                let old = object.snapshot
            else {
                foundUpdated.append(id)
                continue
            }
            if row.version > old.version {
                update(object, Rows(given: [id: row]))
            } else if row.version == old.version, storedValuesDiffer(row, old) {
                keepBaseline(of: object)
                context.refresher.adoptMerged(row, for: object)
                noteRefresh(object)
                foundUpdated.append(id)
            }
        }
    }

    /// True if stored values differ. Transformed objects are created for each read and cannot be compared.
    private func storedValuesDiffer(_ row: RowSnapshot, _ old: RowSnapshot) -> Bool {
        zip(row.values, old.values).contains { new, old in
            if case .object(let new) = new, case .object = old, !(new is NSDictionary) { return false }
            return new != old
        }
    }

    func announceDerived() { announce(CommittedChanges(), MergeAnnouncement(completeSince: nil)) }

    /// True if derived values differ within one version: the store derives them without incrementing the version.
    private func derivedValuesDiffer(_ row: RowSnapshot, _ old: RowSnapshot, _ object: NSManagedObject) -> Bool {
        row.version == old.version
            && object.layout.traits.derivedSlots.contains { row.values[$0] != old.values[$0] }
    }

    /// Keeps the object's values before the merge. An object that was changed here in this event already has a
    /// baseline.
    private mutating func keepBaseline(of object: NSManagedObject) {
        guard object.baseline == nil else { return }
        // `merge` is not the number of an event: a change that an observer makes replaces this baseline by its own.
        let baseline = EventBaseline(event: EventBaseline.merge, values: object.values, snapshot: object.snapshot)
        object.baseline = baseline
        baselines.append((object, baseline))
    }

    private mutating func noteRefresh(_ object: NSManagedObject) {
        if seen.insert(ObjectIdentifier(object)).inserted { refreshed.append(object) }
    }

    private mutating func delete(_ id: NSManagedObjectID) {
        // An object that nobody holds is only released: nobody has to be notified of its deletion.
        forgetContents(pointingAt: id)
        if context.registry.releaseIfUnused(id) { return }
        if let object = context.registry.registered(id) { delete(object) }
    }

    private mutating func forgetContents(pointingAt id: NSManagedObjectID) {
        guard let object = context.registry.registered(id), let old = object.snapshot else { return }
        forgetContents(pointingAt: object, old.values)
    }

    /// Marks the object deleted. Its holders keep it, and its values stay readable.
    private mutating func delete(_ object: NSManagedObject) {
        guard !object.flags.contains(.dropped) else { return }
        context.changes.forget(object)
        object.flags.remove(.stored)
        object.flags.insert(.dropped)
        context.changes.noteMergedDeletion(object)
        guard seen.insert(ObjectIdentifier(object)).inserted else { return }
        deleted.append(object)
    }

    /// Turns an unchanged object into a fault after a failed read, so it is read again.
    private func dropValues(of object: NSManagedObject) {
        guard !object.hasChanges else { return }
        context.refresher.refresh([object], mergeChanges: false)
    }

    // MARK: Stores without history

    /// The registered objects of `store` and their rows, read with one query.
    private func sweep(of store: NSPersistentStore) -> (objects: [NSManagedObject], rows: Rows) {
        guard let source = context.source else { return ([], Rows(given: [:])) }
        let objects = context.registry.all.filter { object in
            object.snapshot != nil && object.flags.contains(.stored)
                && object.objectID.storeIdentifier == store.identifier
        }
        guard !objects.isEmpty else { return ([], Rows(given: [:])) }
        return (objects, Rows(given: [:]) { try source.rows(for: objects.map(\.objectID)) })
    }

    /// Compares objects with their rows, by version.
    private mutating func sweep(_ objects: [NSManagedObject], _ rows: Rows) {
        guard !objects.isEmpty else { return }
        for object in objects {
            let old = object.snapshot
            update(object, rows)
            if object.snapshot !== old { foundUpdated.append(object.objectID) }
        }
        forgetDestinations(among: [])
    }

    // MARK: To-many relationships

    /// Drops the contents that were read of the object's to-many relationships.
    ///
    /// - Returns: true if any had been read.
    @discardableResult
    private func forgetContents(of object: NSManagedObject) -> Bool {
        var found = false
        for (number, state) in object.touchedToMany where state.isLoaded {
            object.changing(.toMany(number)) { state.turnIntoFault() }
            found = true
        }
        return found
    }

    /// Drops the contents of to-many relationships whose inverses are to-one relationships with these values: the
    /// object may have been added or removed there.
    private mutating func forgetContents(pointingAt object: NSManagedObject, _ values: RowValues) {
        let layout = object.layout
        for slot in layout.attributeCount..<layout.slots.count {
            guard case .reference(let id) = values[slot],
                let inverse = (layout.slots[slot] as? NSRelationshipDescription)?.inverseRelationship, inverse.isToMany,
                let owner = context.registry.registered(context.localID(id)),
                case .toMany(let number) = owner.layout.place(of: inverse.name),
                let state = owner.knownToManyState(number), state.isLoaded
            else { continue }
            owner.changing(.toMany(number)) { state.turnIntoFault() }
            noteRefresh(owner)
        }
    }

    // MARK: Notifications

    func announce(_ changes: CommittedChanges, _ announcement: MergeAnnouncement) {
        postObjectsDidChange(announcement)
        for (object, baseline) in baselines where object.baseline === baseline { object.baseline = nil }
        postDidMerge(changes, announcement)
        guard !changes.staleStores.isEmpty else { return }
        NotificationCenter.default.post(name: .contextHasUnknownChanges, object: context)
    }

    private func postObjectsDidChange(_ announcement: MergeAnnouncement) {
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = Set(inserted) }
        if !refreshed.isEmpty { info[NSRefreshedObjectsKey] = Set(refreshed.filter { !$0.isDeleted }) }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = Set(deleted) }
        guard !info.isEmpty else { return }
        announcement.add(to: &info)
        info[MergeAnnouncement.changedObjectsKey] = Set(inserted + refreshed + deleted)
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didChangeObjectsNotification, object: context, userInfo: info)
    }

    private func postDidMerge(_ changes: CommittedChanges, _ announcement: MergeAnnouncement) {
        var info: [AnyHashable: Any] = [:]
        func add(_ key: String, _ ids: [NSManagedObjectID]) {
            if !ids.isEmpty { info[key] = Set(ids.map(context.localID)) }
        }
        add(NSInsertedObjectIDsKey, changes.inserted)
        add(NSUpdatedObjectIDsKey, changes.updated + foundUpdated)
        add(NSDeletedObjectIDsKey, changes.deleted + foundDeleted)
        guard !info.isEmpty else { return }
        announcement.add(to: &info)
        info[NSRefreshedObjectIDsKey] = Set(refreshed.filter { !$0.isDeleted }.map(\.objectID))
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, userInfo: info)
    }
}
