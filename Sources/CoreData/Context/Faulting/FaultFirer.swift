import Foundation

/// Makes faults real: rows of objects, contents of to-many relationships.
final class FaultFirer {
    /// The context as its objects refer to it.
    let handle: ContextHandle
    // SAFETY: the context owns the firer; `realise`, which may run when it is gone, does without it.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }

    /// What could not be read.
    let unread: UnreadFaults

    /// The to-many relationships that have shown small lists whose members are touched: their rows are read along with
    /// the next lists.
    private var listsReadWithRows: Set<ObjectIdentifier> = []

    /// The lists that are likely to be asked for next.
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

    /// Makes one fault real. Without I/O if it carries its row. A fault that cannot be read stays one: see
    /// ``UnreadFaults``.
    ///
    /// - Parameter place: The property that needs it, if it is one.
    func fire(_ object: NSManagedObject, for place: EntityLayout.Place? = nil) {
        if object.snapshot == nil {
            if ConcurrencyChecking.isOn { context.requireQueue("firing the fault of '\(object.objectID)'") }
            do { try fetchRow(of: object) } catch { return unread.didFail([object], error) }
            if object.snapshot == nil { return becomeInaccessible(object, missing: place) }
        }
        handle.realise(object)
    }

    /// Reads the row of a fault, and those of its neighbours with the same query. Where that fails, a neighbour may be to
    /// blame: then it reads the one row, and if that succeeds, each neighbour reads its own later.
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

    /// Makes the faults among `objects` real that exist, with one query for all whose rows are not here.
    func fire(_ objects: [NSManagedObject]) throws {
        let faults = objects.filter { $0.isFault && $0.managedObjectContext === context }
        try fetchRows(of: faults.filter { $0.snapshot == nil })
        for object in faults where object.isFault {
            if object.snapshot == nil { becomeInaccessible(object) } else { handle.realise(object) }
        }
    }

    /// Reads the rows of faults, with one query; a row that is gone leaves its object without a snapshot.
    func fetchRows(of objects: [NSManagedObject]) throws {
        guard !objects.isEmpty, let source = context.source else { return }
        let rows = try source.rows(inOrderOf: objects.map(\.passingID))
        for (object, row) in zip(objects, rows) { object.snapshot = row }
        unread.didRead(objects)
    }

    /// Makes a fault real that has its row.
    ///
    /// `awakeFromFetch` is the user's code, and may give the context up, and its handle with it.
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

    /// The row is gone: the object becomes a deleted one without values, or the program stops.
    private func becomeInaccessible(_ object: NSManagedObject, missing place: EntityLayout.Place? = nil) {
        let property = place.map(object.layout.property(at:))
        guard context.shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: property) else {
            preconditionFailure("CoreData could not fulfill a fault for '\(object.objectID)'")
        }
        unread.forget(object)
        object.snapshot = .blank(object.layout)
        object.flags.remove(.fault)
        object.flags.insert(.inaccessible)
        // What only a parent had, and took back, was never stored.
        if object.objectID.isTemporaryID { object.flags.remove(.stored) }
        context.changes.noteDeletion(object)
    }

    // MARK: To-many relationships

    /// Reads the contents of the to-many relationship `number` of `owners` (of one entity), with one query. Where that
    /// fails they stay unread.
    ///
    /// - Parameter rowLimit: How many of the members' rows are read along, where one query can bring both. Unless it is
    ///   said, those of a short list are, once members of such lists were touched.
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

    /// The members of each of `owners` as they are stored. Where the rows that were to be read along cannot be read, the
    /// members come without.
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

    /// Reads what could not be read before, of objects with unsaved changes: no row is written that was not read.
    ///
    /// - Throws: the store's error if it still cannot be read.
    func readUnread() throws {
        let changed = context.changes.updated.all + context.changes.deleted.all
        let faults = changed.filter { $0.isFault }
        let contents = unread.unsavedContents
        guard !faults.isEmpty || !contents.isEmpty else { return }
        try fire(faults)
        for (owner, number) in contents { try fetchDestinations(of: [owner], number: number) }
        // What was deleted unread had no neighbours that its delete rules could have reached.
        let deleted = (faults + contents.map(\.owner)).filter { $0.isDeleted && !$0.flags.contains(.inaccessible) }
        if !deleted.isEmpty {
            var propagation = DeletePropagation(context: context)
            propagation.run(deleted)
        }
        context.events.process(propagatesDeletes: true, isForSave: true)
    }
}
