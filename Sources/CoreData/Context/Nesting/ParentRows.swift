/// The rows that a context shows to its children: those of its objects, with unsaved changes.
///
/// Used on the context's queue.
struct ParentRows {
    let context: NSManagedObjectContext

    // MARK: Rows

    /// Returns the rows of `ids`, without rows that do not exist or that the context deleted.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        var missing: [NSManagedObjectID] = []
        for id in ids {
            guard let object = context.registry.registered(id) else {
                missing.append(id)
                continue
            }
            if object.isDeleted { continue }
            if let row = Self.row(of: object) { result[id] = row } else { missing.append(id) }
        }
        guard !missing.isEmpty, let source = context.source else { return result }
        for (id, row) in try source.rows(for: missing) {
            // Keeps the row, so that the context's fault does not read it again.
            if let fault = context.registry.registered(id), fault.waitsForRow {
                fault.snapshot = row
            }
            result[id] = asSeenHere(row, id)
        }
        return result
    }

    /// The values of an object as a row; `nil` if it has none. Excludes transient values. Fires no fault.
    static func row(of object: NSManagedObject) -> RowSnapshot? {
        guard let snapshot = object.snapshot else { return nil }
        if !object.hasOwnValues { return snapshot }
        let traits = object.layout.traits
        guard traits.hasTransient else {
            return RowSnapshot.make(object.values, version: snapshot.version, isUnsaved: true)
        }
        let values = object.values.indices.map {
            traits.isTransient[$0] ? traits.transientStart[$0] : object.values[$0]
        }
        return RowSnapshot.make(values, version: snapshot.version, isUnsaved: true)
    }

    /// The row of an object that the context has not created or not read. If the row refers to an object that was
    /// changed or deleted here, the object is created, which settles its relationships.
    private func asSeenHere(_ row: RowSnapshot, _ id: NSManagedObjectID) -> RowSnapshot {
        guard context.changes.hasChanges else { return row }
        let meetsChanges = row.values.dropFirst(id.entity.layout.attributeCount).contains { value in
            if case .reference(let target) = value { isChangedHere(target) } else { false }
        }
        guard meetsChanges else { return row }
        let object = context.registry.object(for: id, row: row)
        object.fireIfNeeded()
        return Self.row(of: object) ?? row
    }

    private func isChangedHere(_ id: NSManagedObjectID) -> Bool {
        context.registry.registered(id).map { !$0.flags.isDisjoint(with: [.unsaved, .dropped]) } ?? false
    }

    // MARK: Lists

    /// Returns the IDs of the objects that match `plan` in the context, with unsaved changes, and the rows on request.
    func find(_ plan: FetchPlan, wantsRows: Bool) throws -> FoundRows {
        context.processPendingChanges()
        let answer = try context.fetchPipeline.answer(plan, seesUnsaved: true, wantsRows: wantsRows)
        let found = answer.found
        let ids = found.ids
        var result = FoundRows(stores: plan.stores)
        for item in answer.items ?? ids.indices.map(FetchedItem.found) {
            switch item {
            case .found(let index): add(ids[index], found.row(at: index), to: &result, wantsRows)
            case .pending(let object): add(object.objectID, nil, to: &result, wantsRows)
            }
        }
        return result
    }

    private func add(_ id: NSManagedObjectID, _ read: RowSnapshot?, to result: inout FoundRows, _ wantsRow: Bool) {
        if wantsRow {
            let held = context.registry.registered(id).flatMap(Self.row)
            // Every object with changes has a row, and a row was read for all others.
            guard let row = held ?? read.map({ asSeenHere($0, id) }) else { return }
            result.rows.append(row)
        }
        result.namedIDs.append(id)
    }

    // MARK: Contents of to-many relationships

    /// Returns the destinations in the context, with its changes.
    func destinations(
        of relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        var known: [(id: NSManagedObjectID, owner: NSManagedObject, number: Int)] = []
        var unknown: [NSManagedObjectID] = []
        for id in ids {
            guard let owner = context.registry.registered(id),
                case .toMany(let number) = owner.layout.place(of: relationship.name),
                owner.knownToManyState(number) != nil
            else {
                unknown.append(id)
                continue
            }
            if !owner.isDeleted { known.append((id, owner, number)) }
        }
        var result: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        if !unknown.isEmpty, let source = context.source {
            result = try source.destinations(of: relationship, from: unknown)
        }
        if context.changes.hasChanges {
            // An object that was changed or deleted here may no longer be a member.
            for id in unknown where result[id]?.contains(where: isChangedHere) ?? false {
                let owner = context.registry.object(for: id)
                guard case .toMany(let number) = owner.layout.place(of: relationship.name) else { continue }
                known.append((id, owner, number))
            }
        }
        for family in Dictionary(grouping: known, by: { ObjectIdentifier($0.owner.layout) }).values {
            try context.faults.fetchDestinations(of: family.map(\.owner), number: family[0].number)
        }
        for (id, owner, number) in known { result[id] = owner.toManyState(number).contents.map(\.objectID) }
        return result
    }
}
