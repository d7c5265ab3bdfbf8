import Foundation

/// The changes that a save writes to one store, and the objects that it settles.
struct StorePlan {
    let store: any RowStore
    var changes: StoreChangeSet
    /// The objects whose changes are in the plan.
    var objects: [NSManagedObject] = []
    /// The rows after the commit.
    var written = WrittenRows()

    /// Adds the objects to the changes, with all of their to-many relationships read, because a store may look at them
    /// in its save.
    mutating func bringObjects() {
        changes.objects = objects + written.objects
        for object in changes.objects where !object.isDeleted {
            for number in object.layout.toManyRelationships.indices { _ = object.loadedToManyState(number) }
        }
    }

    /// Records the planned new rows as the only written ones. Shares the arrays: retaining every element again would
    /// take as long as planning the rows.
    mutating func writeInsertions(of new: [NSManagedObject]) {
        objects = new
        written = WrittenRows(objects: new, rows: changes.inserted)
    }
}

/// The objects whose rows a save writes, and the rows.
struct WrittenRows {
    private(set) var objects: [NSManagedObject] = []
    /// The row of each object, in the same order.
    private(set) var rows: [IdentifiedRow] = []

    mutating func append(_ object: NSManagedObject, _ id: NSManagedObjectID, _ row: RowSnapshot) {
        objects.append(object)
        rows.append(IdentifiedRow(id: id, row: row))
    }

    mutating func append(_ others: WrittenRows) {
        objects += others.objects
        rows += others.rows
    }
}

/// Turns the unsaved changes into one change set for each store. Reads only.
///
/// A relationship is written once, whichever ends changed: a to-one relationship as the slot of its row; a to-many
/// relationship whose inverse is to-one as the slots of its destinations, whose rows also hold the positions in an
/// ordered one; any other as changed pairs, from the end whose entity and name sort first.
struct SavePlanner {
    let context: NSManagedObjectContext
    let locked: [NSManagedObject]
    /// The objects to write; `nil` for all that have changes.
    let chosen: Set<NSManagedObject>?
    /// The IDs of the new objects in their order, if just obtained: the objects do not store them.
    let newIDs: [NSManagedObjectID]

    private var plans: [StorePlan] = []
    private var planOfStore: [String: Int] = [:]
    /// The plan used last: objects of one store are usually adjacent.
    private var lastPlan: (reference: StoreReference?, plan: Int)?
    /// Positions in ordered to-many relationships, by the destination that holds the foreign key.
    private var positions: [ObjectIdentifier: [Int: Int]] = [:]
    private var positioned: [NSManagedObject] = []
    /// The number of new objects, for which memory is reserved.
    private var insertedCount = 0
    /// The destination looked up last, and its result: adjacent objects usually refer to the same.
    private var lastDestination: (id: NSManagedObjectID, plan: Int, current: NSManagedObjectID?)?
    /// Objects that may have changed pairs.
    private var paired: [NSManagedObject] = []
    private let reporter: SaveReporter?

    init(
        context: NSManagedObjectContext, locked: [NSManagedObject], chosen: Set<NSManagedObject>? = nil,
        newIDs: [NSManagedObjectID] = []
    ) {
        self.context = context
        self.locked = locked
        self.chosen = chosen
        self.newIDs = newIDs
        reporter = context.savePipeline.reporter
    }

    func makePlans() throws -> [StorePlan] {
        var planner = self
        try planner.build()
        return planner.plans
    }

    private mutating func build() throws {
        let inserted = chosen(context.changes.inserted.all)
        insertedCount = inserted.count
        let updated = chosen(context.changes.updated.all)
        let deleted = chosen(context.changes.deleted.all)
        reporter?.begin(.planning, steps: inserted.count + updated.count + deleted.count)
        if mayHavePlaces { for objects in [inserted, updated] { objects.forEachHeld { collectPositions(of: $0) } } }
        try addInserts(inserted)
        try updated.forEachHeld {
            try addUpdate($0)
            try reporter?.step()
        }
        try addPositionedOnly()
        for object in deleted {
            try addDelete(object)
            try reporter?.step()
        }
        for object in paired { try addPairs(of: object) }
        for object in locked where object.flags.isDisjoint(with: .unsaved) { try addLocked(object) }
    }

    private func chosen(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        guard let chosen else { return objects }
        return objects.filter(chosen.contains)
    }

    // MARK: Rows

    private mutating func addInserts(_ objects: [NSManagedObject]) throws {
        // Usually there is one store, and its list is `objects`.
        var lists: [[NSManagedObject]] = []
        var number = 0
        try objects.forEachHeld { object in
            let id = objects.count == newIDs.count ? newIDs[number] : object.passingID
            let plan = try addInsert(object, id)
            if lists.isEmpty, plan > 0 { lists = [Array(objects.prefix(number))] }
            if !lists.isEmpty {
                if plan == lists.count { lists.append([]) }
                lists[plan].append(object)
            }
            number += 1
            try reporter?.step()
        }
        for plan in plans.indices { plans[plan].writeInsertions(of: lists.isEmpty ? objects : lists[plan]) }
    }

    /// Adds the row of a new object to the plan of its store.
    ///
    /// - Returns: the index of the plan to which the object belongs.
    private mutating func addInsert(_ object: NSManagedObject, _ id: NSManagedObjectID) throws -> Int {
        let plan = try planIndex(of: id, object)
        // The row of a restored object continues the old version number, so contexts with the old row detect the
        // change.
        let version = object.snapshot?.version ?? 0
        if !context.changes.deleted.isEmpty { try checkReferences(of: object, object.layout.slots.indices) }
        let row = try row(of: object, version: try Self.version(after: version, of: id), plan)
        plans[plan].changes.inserted.append(IdentifiedRow(id: id, row: row))
        if !positions.isEmpty { plans[plan].changes.insertedPositions[id] = positions[ObjectIdentifier(object)] }
        notePairs(of: object)
        return plan
    }

    private mutating func addUpdate(_ object: NSManagedObject) throws {
        let id = object.objectID
        let plan = try planIndex(of: id, object)
        plans[plan].objects.append(object)
        notePairs(of: object)
        let slots = ChangedValues.changedSlots(of: object)
        try checkReferences(of: object, slots)
        let toMany = ChangedValues.changedToMany(of: object)
        let places = places(of: object)
        guard !slots.isEmpty || !toMany.isEmpty || !places.isEmpty else { return }
        try addWrite(object, id, slots, toMany, places, plan)
    }

    /// Returns the row version that follows `version`.
    ///
    /// - Throws: 134030 if the row's version is the greatest possible number, which only a damaged file has.
    private static func version(after version: Int64, of id: NSManagedObjectID) throws -> Int64 {
        guard version < .max else {
            throw CoreDataError.make(
                134030,
                "Cannot save \(id.uriRepresentation().absoluteString): its row has the version \(version), "
                    + "which is the last possible one. The file is damaged; run roster check.")
        }
        return version + 1
    }

    private mutating func addWrite(
        _ object: NSManagedObject, _ id: NSManagedObjectID, _ slots: [Int], _ toMany: [Int], _ places: [Int: Int],
        _ plan: Int
    ) throws {
        let version = object.snapshot?.version ?? 0
        let row = try row(of: object, version: try Self.version(after: version, of: id), plan)
        plans[plan].written.append(object, id, row)
        plans[plan].changes.updated.append(
            StoreRowChange(
                id: id, row: row, changedSlots: slots, changedToMany: toMany, baseVersion: version,
                orderedPositions: places))
    }

    /// Plans destinations whose only change is their position in an owner's list.
    private mutating func addPositionedOnly() throws {
        let others = positioned.filter { $0.flags.isDisjoint(with: .unsaved) }
        try context.faults.fetchRows(of: others.filter { $0.snapshot == nil })
        for object in others where object.snapshot != nil {
            let id = object.objectID
            let plan = try planIndex(of: id, object)
            try addWrite(object, id, [], [], places(of: object), plan)
        }
    }

    private mutating func addDelete(_ object: NSManagedObject) throws {
        let id = object.objectID
        let plan = try planIndex(of: id, object)
        plans[plan].objects.append(object)
        // The row of an inaccessible object no longer exists.
        guard !object.flags.contains(.inaccessible) else { return }
        plans[plan].changes.deleted.append(bare(object, id))
    }

    private mutating func addLocked(_ object: NSManagedObject) throws {
        guard object.managedObjectContext === context, object.snapshot != nil else { return }
        let id = object.objectID
        let plan = try planIndex(of: id, object)
        plans[plan].changes.locked.append(bare(object, id))
    }

    private func bare(_ object: NSManagedObject, _ id: NSManagedObjectID) -> StoreRowChange {
        StoreRowChange(
            id: id, row: nil, changedSlots: [], baseVersion: object.snapshot?.version ?? 0)
    }

    /// Builds the row to be written: transient values at their defaults, temporary IDs replaced.
    private mutating func row(of object: NSManagedObject, version: Int64, _ plan: Int) throws -> RowSnapshot {
        let (count, firstReference) = object.withLayout { ($0.slots.count, $0.attributeCount) }
        return try .make(version: version, count: count) { row in
            try object.withTraits { traits in
                try object.forEachCurrentValue { slot, value in
                    if traits.hasTransient, traits.isTransient[slot] {
                        row.append(traits.transientStart[slot])
                    } else if slot >= firstReference, case .reference(let id) = value {
                        row.append(try destination(id, of: object, slot, plan).map(SlotValue.reference) ?? .null)
                    } else {
                        row.append(value)
                    }
                }
            }
        }
    }

    /// The permanent ID of a destination, which must be in the same store.
    private mutating func destination(
        _ id: NSManagedObjectID, of object: NSManagedObject, _ slot: Int, _ plan: Int
    ) throws -> NSManagedObjectID? {
        if let last = lastDestination, last.id === id, last.plan == plan { return last.current }
        let current = try destination(id, of: object, object.layout.slots[slot], plan)
        lastDestination = (id, plan, current)
        return current
    }

    /// Checks that no new or changed reference has a destination that this save deletes.
    private func checkReferences(of object: NSManagedObject, _ slots: some Sequence<Int>) throws {
        for slot in slots where slot >= object.layout.attributeCount {
            guard case .reference(let id) = object.currentValue(slot) else { continue }
            try checkReference(id, of: object, object.layout.slots[slot])
        }
    }

    private func checkReference(
        _ id: NSManagedObjectID, of object: NSManagedObject, _ property: NSPropertyDescription
    ) throws {
        guard !context.changes.deleted.isEmpty, let target = context.registry.registered(id),
            target.flags.contains(.deleted)
        else { return }
        throw CoreDataError.make(
            1550,
            "\(property.name) of '\(object.objectID)' refers to '\(target.objectID)', which is deleted. "
                + "Set it to another object or nil.",
            userInfo: [
                NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: property.name,
                NSValidationValueErrorKey: target, NSAffectedObjectsErrorKey: [object],
            ])
    }

    private func destination(
        _ id: NSManagedObjectID, of object: NSManagedObject, _ property: NSPropertyDescription, _ plan: Int
    ) throws -> NSManagedObjectID? {
        let current = id.isTemporaryID ? context.registry.registered(id)?.objectID : id
        guard let current, !current.isTemporaryID else { return nil }
        let store = plans[plan].store
        guard current.isMade(for: store.reference) || current.storeIdentifier == store.identifier else {
            throw CoreDataError.make(
                133010,
                "The relationship '\(property.name)' of '\(object.objectID)' refers to '\(current)' in another store, but "
                    + "relationships cannot cross stores.",
                userInfo: [NSAffectedObjectsErrorKey: [object]])
        }
        return current
    }

    // MARK: Ordered lists

    /// True if some entity stores positions in ordered relationships in its rows.
    private var mayHavePlaces: Bool {
        context.source?.model?.entities.contains { $0.layout.withTraits { $0.hasListsOfPlaces } } ?? true
    }

    /// The object's positions in ordered relationships; most saves have none.
    private func places(of object: NSManagedObject) -> [Int: Int] {
        positions.isEmpty ? [:] : positions[ObjectIdentifier(object)] ?? [:]
    }

    /// Collects the positions of the members of changed ordered relationships. Removals alone do not change the
    /// positions of other members.
    private mutating func collectPositions(of owner: NSManagedObject) {
        for (number, state) in owner.touchedToMany where state.isOrdered && state.hasChanges {
            guard let inverse = owner.layout.toManyRelationships[number].inverseRelationship, !inverse.isToMany else {
                continue
            }
            let state = owner.loadedToManyState(number)
            let kept = state.committedContents.filter { state.contains($0) }
            if state.added.isEmpty, kept.elementsEqual(state.contents, by: ===) { continue }
            for (index, member) in state.contents.enumerated() {
                guard case .toOne(let slot) = member.layout.place(of: inverse.name) else { continue }
                if positions[ObjectIdentifier(member)] == nil { positioned.append(member) }
                positions[ObjectIdentifier(member), default: [:]][slot] = index
            }
        }
    }

    // MARK: Pairs

    private mutating func notePairs(of object: NSManagedObject) {
        if object.hasRelations, object.withTraits({ $0.hasPairs }) { paired.append(object) }
    }

    private mutating func addPairs(of owner: NSManagedObject) throws {
        for (number, state) in owner.touchedToMany where state.hasChanges {
            let relationship = owner.layout.toManyRelationships[number]
            if let inverse = relationship.inverseRelationship, !inverse.isToMany { continue }
            guard !relationship.isTransient else { continue }
            let writesPairs = relationship.writesPairs
            guard writesPairs || state.isOrdered else { continue }
            // Reads the contents again, so that changes others made too are not written twice.
            if state.isStale { _ = owner.loadedToManyState(number) }
            let id = owner.objectID
            let plan = try planIndex(of: id, owner)
            for member in state.added { try checkReference(member.objectID, of: owner, relationship) }
            func ids(_ objects: some Sequence<NSManagedObject>) throws -> [NSManagedObjectID] {
                try objects.compactMap { try destination($0.objectID, of: owner, relationship, plan) }
            }
            plans[plan].changes.toMany.append(
                StoreToManyChange(
                    relationship: relationship, owner: id,
                    added: writesPairs ? try ids(state.added) : [],
                    removed: writesPairs ? try ids(state.removed.filter { !$0.isDeleted }) : [],
                    order: state.isOrdered ? try ids(owner.loadedToManyState(number).contents) : nil))
        }
    }

    // MARK: Stores

    private mutating func planIndex(of id: NSManagedObjectID, _ object: NSManagedObject) throws -> Int {
        if let last = lastPlan, id.isMade(for: last.reference) { return last.plan }
        let identifier = id.storeIdentifier
        if let known = planOfStore[identifier] {
            lastPlan = (id.storeReference, known)
            return known
        }
        guard let store = context.localID(id).rowStore else {
            throw CoreDataError.make(
                134030, "Cannot save '\(id)': its store was removed from the coordinator.",
                userInfo: [NSAffectedObjectsErrorKey: [object]])
        }
        var changes = StoreChangeSet()
        changes.author = context.transactionAuthor
        changes.contextName = context.name
        var plan = StorePlan(store: store, changes: changes)
        // Usually there is only this plan.
        if plans.isEmpty { plan.changes.inserted.reserveCapacity(insertedCount) }
        plans.append(plan)
        planOfStore[identifier] = plans.count - 1
        return plans.count - 1
    }
}
