import Foundation

extension NSBatchDeleteRequest: ContextExecutable {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let run = try BatchRun(in: context, self)
        try checkObjectIDs()
        let fetch = fetchRequest
        fetch.affectedStores = affectedStores
        let plan = try FetchPlan(fetch, coordinator: run.coordinator)
        var outcome = BatchOutcome(keepsIDs: resultType == .resultTypeObjectIDs)
        let given = objectIDs?.map { context.localID($0) }
        try run.write(to: plan.stores) { store, steps in
            if given == nil, let sets = steps as? any BatchSetSteps,
                let done = try Self.delete(plan.limited(to: [store]), outcome.keepsIDs, sets)
            {
                outcome.add(done)
                return
            }
            let ids =
                try given?.filter { $0.storeIdentifier == store.identifier }
                ?? Self.ids(plan.limited(to: [store]))
            var deletion = RowDeletion(store: store, planned: ids)
            for step in BatchRun.steps(of: ids) { outcome.add(try deletion.delete(step, through: steps)) }
        }
        switch resultType {
        case .resultTypeStatusOnly: return NSBatchDeleteResult(true, type: resultType)
        case .resultTypeObjectIDs: return NSBatchDeleteResult(outcome.ids, type: resultType)
        case .resultTypeCount: return NSBatchDeleteResult(outcome.count, type: resultType)
        }
    }

    /// Deletes all rows by a few statements; `nil` if that is not possible.
    private static func delete(
        _ plan: FetchPlan, _ keepsIDs: Bool, _ sets: any BatchSetSteps
    ) throws -> BatchOutcome? {
        guard plan.limit == 0, plan.offset == 0 else { return nil }
        var outcome = BatchOutcome(keepsIDs: keepsIDs)
        if keepsIDs { outcome.add(try ids(plan)) }
        guard let count = try sets.delete(plan.unsorted.query) else { return nil }
        if !keepsIDs { outcome.add(count) }
        return outcome
    }

    private static func ids(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        // Without a limit the order does not matter.
        let plan = plan.limit == 0 && plan.offset == 0 ? plan.unsorted : plan
        var query = plan.query
        query.wantsRows = false
        return try StoreFetch(plan: plan).run(query).ids
    }

    private func checkObjectIDs() throws {
        guard let ids = objectIDs else { return }
        guard let first = ids.first else {
            throw CoreDataError.make(134060, "A batch deletion by IDs needs at least one ID, but the list is empty.")
        }
        for id in ids {
            if id.isTemporaryID {
                throw CoreDataError.make(
                    134060,
                    "Cannot delete '\(id)' in a batch, because the ID is temporary. Save the object first, or delete it in its context."
                )
            }
            if id.entity.name != first.entity.name {
                throw CoreDataError.make(
                    134060,
                    "Cannot delete '\(id)' in a batch with '\(first)'. All IDs of a request must be of one entity."
                )
            }
        }
    }
}

/// Deletes rows of one store and applies their delete rules, without objects.
///
/// Rows that a later step deletes count as already deleted, so the result does not depend on the number of steps. Cost:
/// one query per relationship with a rule to apply, for all rows of a step, and one statement per row.
struct RowDeletion {
    let store: any RowStore
    /// All rows that the steps delete.
    private let planned: Set<NSManagedObjectID>
    /// The rows added to the deletion so far.
    private var doomed: Set<NSManagedObjectID> = []
    private var deleted: [StoreRowChange] = []
    /// The slots to set to nil in remaining rows.
    private var nullified: [NSManagedObjectID: Set<Int>] = [:]
    /// The destinations of Deny rules that must be deleted by the end of the step.
    private var denied: [(id: NSManagedObjectID, relationship: String, destinations: [NSManagedObjectID])] = []

    /// - Parameter planned: all rows that will be deleted, step by step.
    init(store: any RowStore, planned: [NSManagedObjectID]) {
        self.store = store
        self.planned = Set(planned)
    }

    private func goes(_ id: NSManagedObjectID) -> Bool { planned.contains(id) || doomed.contains(id) }

    /// Checks the Deny rules of the planned deletion.
    ///
    /// - Throws: 1600 if a destination of a Deny rule remains.
    private func checkDenied() throws {
        for (id, relationship, destinations) in denied {
            let count = destinations.count { !goes($0) }
            guard count > 0 else { continue }
            throw CoreDataError.make(
                1600,
                "Cannot delete '\(id)' in a batch: its relationship \(relationship) has \(count) destinations, and its delete "
                    + "rule is Deny.",
                userInfo: [NSValidationKeyErrorKey: relationship])
        }
    }

    /// Deletes rows, and applies the delete rules to the rows that refer to them.
    ///
    /// - Returns: the IDs of all deleted rows, without those that no longer existed.
    /// - Throws: 1600 if a Deny rule forbids it, 1570 if a row would lose a required relationship.
    mutating func delete(
        _ ids: some Collection<NSManagedObjectID>, through steps: any BatchSteps
    ) throws -> [NSManagedObjectID] {
        (deleted, nullified, denied) = ([], [:], [])
        var front = Array(ids)
        while !front.isEmpty { front = try doom(front) }
        try checkDenied()
        var changes = StoreChangeSet()
        changes.deleted = deleted
        changes.updated = try survivors()
        try steps.write(changes)
        return changes.deleted.map(\.id)
    }

    /// Adds rows to the deletion.
    ///
    /// - Returns: the rows to which cascades lead.
    private mutating func doom(_ ids: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
        let new = ids.filter { doomed.insert($0).inserted }
        var byEntity: [ObjectIdentifier: [(id: NSManagedObjectID, row: RowSnapshot)]] = [:]
        for (id, row) in zip(new, try store.operations.rows(inOrderOf: new)) {
            guard let row else { continue }
            deleted.append(StoreRowChange(id: id, row: nil, changedSlots: [], baseVersion: row.version))
            byEntity[ObjectIdentifier(id.entity), default: []].append((id, row))
        }
        var next: [NSManagedObjectID] = []
        for rows in byEntity.values {
            for relationship in rows[0].id.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                try follow(relationship, from: rows, &next)
            }
        }
        return next
    }

    private mutating func follow(
        _ relationship: NSRelationshipDescription, from rows: [(id: NSManagedObjectID, row: RowSnapshot)],
        _ next: inout [NSManagedObjectID]
    ) throws {
        guard !relationship.isTransient, relationship.deleteRule != .noActionDeleteRule else { return }
        let inverse = relationship.inverseRelationship
        if relationship.deleteRule == .nullifyDeleteRule, inverse?.isToMany != false { return }
        let lists = try destinations(of: relationship, from: rows)
        switch relationship.deleteRule {
        case .cascadeDeleteRule: next += lists.joined()
        case .denyDeleteRule:
            for (row, list) in zip(rows, lists) where !list.isEmpty { denied.append((row.id, relationship.name, list)) }
        default: break
        }
        guard relationship.deleteRule != .cascadeDeleteRule, let inverse, !inverse.isToMany else { return }
        for id in lists.joined() {
            guard case .toOne(let slot)? = id.entity.layout.place(of: inverse.name) else { continue }
            nullified[id, default: []].insert(slot)
        }
    }

    private func destinations(
        of relationship: NSRelationshipDescription, from rows: [(id: NSManagedObjectID, row: RowSnapshot)]
    ) throws -> [[NSManagedObjectID]] {
        guard let layout = rows.first?.id.entity.layout else { return [] }
        switch layout.place(of: relationship.name) {
        case .toOne(let slot)?:
            return rows.map { row in
                guard case .reference(let id) = row.row.value(slot) else { return [] }
                return [id]
            }
        case .toMany?: return try store.operations.destinations(of: relationship, inOrderOf: rows.map(\.id))
        default: return []
        }
    }

    /// The remaining rows, without references to deleted ones.
    private func survivors() throws -> [StoreRowChange] {
        let ids = nullified.keys.filter { !goes($0) }
        var result: [StoreRowChange] = []
        for (id, row) in zip(ids, try store.operations.rows(inOrderOf: ids)) {
            guard let row, let slots = nullified[id]?.sorted() else { continue }
            var values = row.array
            for slot in slots {
                guard case .reference(let gone) = values[slot], doomed.contains(gone) else { continue }
                let property = id.entity.layout.slots[slot]
                if !property.isOptional {
                    throw CoreDataError.make(
                        1570,
                        "Cannot delete '\(gone)' in a batch: the required relationship \(property.name) of '\(id)' refers to it.",
                        userInfo: [NSValidationKeyErrorKey: property.name])
                }
                values[slot] = .null
            }
            result.append(
                StoreRowChange(
                    id: id, row: .make(values, version: row.version &+ 1), changedSlots: slots, baseVersion: row.version
                ))
        }
        return result
    }
}
