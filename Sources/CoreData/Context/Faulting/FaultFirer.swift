import Foundation

/// Fires faults: reads rows of objects and contents of to-many relationships.
final class FaultFirer {
    /// The handle by which objects refer to the context.
    let handle: ContextHandle
    // SAFETY: the context owns the firer; `realise`, which may run after the context is deallocated, does not use it.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }

    /// Faults that could not be read.
    let unread: UnreadFaults

    /// To-many relationships with short lists whose members were used: the next lists are read with their members'
    /// rows.
    private var listsReadWithRows: Set<ObjectIdentifier> = []

    /// Lists that are likely to be used next.
    let ahead: ListReadAhead

    init(context: NSManagedObjectContext, changes: ChangeTracker) {
        unretained = Unretained(context)
        ahead = ListReadAhead(context: context)
        let unread = UnreadFaults(context: context)
        self.unread = unread
        handle = ContextHandle(context) { [weak context] object in
            if ConcurrencyChecking.isOn { context?.requireQueue("firing the fault of '\(object.objectID)'") }
            Self.realise(object, unread, changes)
        }
    }

    // MARK: Objects

    /// Fires one fault. Reads nothing if the fault carries its row. A fault that cannot be read stays one: see
    /// ``UnreadFaults``.
    ///
    /// - Parameter place: The property that needs the row; `nil` if it is no particular one.
    func fire(_ object: NSManagedObject, for place: EntityLayout.Place? = nil) {
        if object.snapshot == nil {
            if ConcurrencyChecking.isOn { context.requireQueue("firing the fault of '\(object.objectID)'") }
            do { try fetchRow(of: object) } catch { return unread.didFail([object], error) }
            if object.snapshot == nil { return becomeInaccessible(object, missing: place) }
        }
        handle.realise(object)
    }

    /// Reads the row of a fault, and those of its batch with the same query. If that fails, another row of the batch
    /// may be the cause, so only this row is read, and the others are read one by one later.
    private func fetchRow(of object: NSManagedObject) throws {
        let batch = object.faultBatch?.waiting(with: object, registered: context.registry.registered(_:)) ?? [object]
        object.faultBatch?.close()
        if let list = object.faultBatch?.header.list { listsReadWithRows.insert(list) }
        guard batch.count > 1 else { return try fetchRows(of: batch) }
        do { try fetchRows(of: batch) } catch {
            try fetchRows(of: [object])
            for neighbour in batch { neighbour.faultBatch = nil }
        }
    }

    /// Fires the faults among `objects`, with one query for all rows that are missing.
    func fire(_ objects: [NSManagedObject]) throws {
        let faults = objects.filter { $0.isFault && $0.managedObjectContext === context }
        try fetchRows(of: faults.filter { $0.snapshot == nil })
        for object in faults where object.isFault {
            if object.snapshot == nil { becomeInaccessible(object) } else { handle.realise(object) }
        }
    }

    /// Reads the rows of faults with one query. An object whose row no longer exists has no snapshot then.
    func fetchRows(of objects: [NSManagedObject]) throws {
        guard !objects.isEmpty, let source = context.source else { return }
        let rows = try source.rows(inOrderOf: objects.map(\.passingID))
        for (object, row) in zip(objects, rows) { object.snapshot = row }
        unread.didRead(objects)
    }

    /// Fires a fault that has its row.
    ///
    /// `awakeFromFetch` is the user's code: it may release the context, and with it the handle.
    private static func realise(_ object: NSManagedObject, _ unread: UnreadFaults, _ changes: ChangeTracker) {
        let own = object.contextReference
        object.flags.remove(.fault)
        object.flags.insert(.awakening)
        object.awakeFromFetch()
        object.flags.remove(.awakening)
        object.adoptValuesAsSnapshot()
        guard let reference = object.contextReference, reference == own else { return }
        unread.apply(to: object)
        if object.layout.traits.toOneCount > 0, changes.hasChanges { InverseReconciler.settle(object) }
    }

    /// Makes an object whose row no longer exists a deleted one without values, or stops the program.
    private func becomeInaccessible(_ object: NSManagedObject, missing place: EntityLayout.Place? = nil) {
        let property = place.map(object.layout.property(at:))
        guard context.shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: property) else {
            preconditionFailure("CoreData could not fulfill a fault for '\(object.objectID)'")
        }
        unread.forget(object)
        object.snapshot = .blank(object.layout)
        object.flags.remove(.fault)
        object.flags.insert(.inaccessible)
        // An object that only a parent had was never stored.
        if object.objectID.isTemporaryID { object.flags.remove(.stored) }
        context.changes.noteDeletion(object)
    }

    // MARK: To-many relationships

    /// Reads the contents of the to-many relationship `number` of `owners` (of one entity), with one query. If that
    /// fails they stay unread.
    ///
    /// - Parameter rowLimit: The maximum number of members' rows to read in the same query, if the store can. By
    ///   default, rows are read with a short list once members of such lists were used.
    func load(_ owners: [NSManagedObject], number: Int, rowLimit: Int? = nil) {
        do {
            try fetchDestinations(of: owners, number: number, rowLimit: rowLimit)
        } catch {
            for owner in owners where !owner.toManyState(number).isLoaded {
                unread.didFail(owner, number: number, error)
            }
        }
    }

    func fetchDestinations(of owners: [NSManagedObject], number: Int, rowLimit: Int? = nil) throws {
        context.requireQueue(
            "reading '\(owners.first?.layout.toManyRelationships[number].name ?? "")'")
        let waiting = owners.filter { !$0.toManyState(number).isLoaded }
        guard let first = waiting.first else { return }
        let relationship = first.layout.toManyRelationships[number]
        let readable = waiting.filter { owner in
            owner.flags.isDisjoint(with: .inaccessible) && context.source?.mayHold(owner.objectID) ?? false
        }
        let found = readable.isEmpty ? [] : try findMembers(number, of: readable, rowLimit)
        var next = 0
        for owner in waiting {
            var read: [NSManagedObject] = []
            if next < found.count, owner === readable[next] {
                read = found[next]
                next += 1
            }
            let state = owner.toManyState(number)
            let members = InverseReconciler.members(read, of: owner, owner.layout.toManyRelationships[number], state)
            FaultBatch.join(members, size: FaultBatch.defaultSize, list: relationship)
            let known = state.contents
            state.load(members)
            InverseReconciler.takeOutDeleted(of: owner, owner.layout.toManyRelationships[number], state)
            guard unread.takeReplacement(owner, number: number) else { continue }
            InverseUpkeep.replace(known, of: owner, number: number)
        }
        unread.didRead(owners)
    }

    /// The stored members of each of `owners`. If the rows that the same query should read cannot be read, the members
    /// are faults without rows.
    private func findMembers(
        _ number: Int, of owners: [NSManagedObject], _ rowLimit: Int?
    ) throws -> [[NSManagedObject]] {
        let relationship = owners[0].layout.toManyRelationships[number]
        let isShortList = listsReadWithRows.contains(ObjectIdentifier(relationship))
        guard owners.count == 1, rowLimit == nil else {
            return try readMembers(relationship, of: owners, rowLimit, isShortList)
        }
        if let members = ahead.members(of: owners[0], number: number, readsRows: isShortList) { return [members] }
        let read = try readMembers(relationship, of: owners, nil, isShortList)
        ahead.didRead(relationship, count: read.first?.count ?? 0)
        return read
    }

    private func readMembers(
        _ relationship: NSRelationshipDescription, of owners: [NSManagedObject], _ rowLimit: Int?, _ isShortList: Bool
    ) throws -> [[NSManagedObject]] {
        guard let source = context.source else { return [] }
        let ids = owners.map(\.objectID)
        let registry = context.registry
        let limit = rowLimit ?? (isShortList ? FaultBatch.defaultSize : 0)
        if limit > 0, !registry.sharesTemporaryIDs,
            let (store, found) = try? source.destinationRows(
                of: relationship, inOrderOf: ids, limit: limit, most: .max),
            var maker = registry.maker(for: store)
        {
            return maker.lists(of: consume found, areShared: relationship.inverseRelationship?.isToMany ?? true)
        }
        return try source.destinations(of: relationship, inOrderOf: ids).map { members in
            members.map { registry.object(for: $0, row: nil, isLocal: true) }
        }
    }

    // MARK: Before a save

    /// Reads the unread parts of objects with unsaved changes: a row is never written before it is read.
    ///
    /// - Throws: the store's error if it still cannot be read.
    func readUnread() throws {
        let changed = context.changes.updated.all + context.changes.deleted.all
        let faults = changed.filter { $0.isFault }
        let contents = unread.unsavedContents
        guard !faults.isEmpty || !contents.isEmpty else { return }
        try fire(faults)
        for (owner, number) in contents { try fetchDestinations(of: [owner], number: number) }
        // Objects that were deleted unread had no known destinations, so their delete rules must be applied now.
        let deleted = (faults + contents.map(\.owner)).filter { $0.isDeleted && !$0.flags.contains(.inaccessible) }
        if !deleted.isEmpty {
            var propagation = DeletePropagation(context: context)
            propagation.run(deleted)
        }
        context.events.process(propagatesDeletes: true, isForSave: true)
    }
}
