import Foundation

/// Writes new rows, and resolves conflicts of their unique values with rows of the store and with each other.
///
/// Additional cost: for an entity with constraints, one query for each 200 rows and constraint.
struct ConstraintMeeting {
    let entity: NSEntityDescription
    let store: any RowStore
    let answer: Answer

    /// True if the entity has unique values.
    var isNeeded: Bool { !UniqueConstraint.all(of: entity).isEmpty }

    /// The resolution of a conflict over unique values.
    enum Answer {
        case fail
        /// The existing row stays as it is.
        case keepStored
        /// The values that the program gave are written to the existing row.
        case writeGiven
        /// All values are written to the existing row.
        case writeAll

        init(_ policy: Any) {
            switch (policy as? NSMergePolicy)?.mergeType {
            case .mergeByPropertyStoreTrumpMergePolicyType?, .rollbackMergePolicyType?: self = .keepStored
            case .mergeByPropertyObjectTrumpMergePolicyType?: self = .writeGiven
            case .overwriteMergePolicyType?: self = .writeAll
            case .errorMergePolicyType?, nil: self = .fail
            }
        }
    }

    /// A row with unique values: one of the store, or a new one.
    private struct Owner {
        var id: NSManagedObjectID?
        var base: RowSnapshot?
        let layout: EntityLayout
        var values: [SlotValue]
        var changed: Set<Int> = []
    }

    /// The rows of a step, and the owner of each unique value.
    private struct Step {
        var owners: [Owner] = []
        var ownerOf: [[UniqueValues: Int]]
    }

    /// Writes new rows. A row whose unique values exist already is treated by the policy.
    ///
    /// - Returns: the IDs of the rows that were inserted or changed.
    /// - Throws: 133021 if unique values are repeated and the policy is to fail.
    func write(_ rows: [NewRow], through steps: any BatchSteps) throws -> [NSManagedObjectID] {
        let constraints = UniqueConstraint.all(of: entity)
        var step = Step(ownerOf: constraints.map { _ in [:] })
        step.owners.reserveCapacity(rows.count)
        for (place, constraint) in constraints.enumerated() { try findStored(constraint, place, rows, &step) }
        for row in rows { try take(row, constraints, &step) }
        var changes = StoreChangeSet()
        let new = step.owners.filter { $0.base == nil }
        for (id, owner) in zip(try steps.reserveIDs(new.count, of: entity), new) {
            changes.inserted.append(IdentifiedRow(id: id, row: .make(owner.values, version: 1)))
        }
        for owner in step.owners where !owner.changed.isEmpty {
            guard let base = owner.base, let id = owner.id else { continue }
            changes.updated.append(
                StoreRowChange(
                    id: id, row: .make(owner.values, version: base.version &+ 1),
                    changedSlots: owner.changed.sorted(), baseVersion: base.version))
        }
        try steps.write(changes)
        return changes.inserted.map(\.id) + changes.updated.map(\.id)
    }

    /// Finds the rows of the store that have unique values of the new ones.
    private func findStored(
        _ constraint: UniqueConstraint, _ place: Int, _ rows: [NewRow], _ step: inout Step
    ) throws {
        let layout = entity.layout
        var seen: Set<UniqueValues> = []
        let wanted = rows.compactMap { row -> [Any]? in
            guard let values = UniqueValues(constraint.names, in: row.values, layout), seen.insert(values).inserted
            else { return nil }
            return constraint.constants(RowSnapshot.make(row.values, version: 0).values, layout)
        }
        guard !wanted.isEmpty else { return }
        let known = Dictionary(
            step.owners.enumerated().compactMap { index, owner in owner.id.map { ($0, index) } },
            uniquingKeysWith: { first, _ in first })
        for (id, row) in try constraint.rows(having: wanted, in: store) {
            guard let values = UniqueValues(constraint.names, in: row.values, id.entity.layout) else { continue }
            if let index = known[id] {
                step.ownerOf[place][values] = index
            } else {
                step.ownerOf[place][values] = step.owners.count
                step.owners.append(Owner(id: id, base: row, layout: id.entity.layout, values: row.array))
            }
        }
    }

    private func take(_ row: NewRow, _ constraints: [UniqueConstraint], _ step: inout Step) throws {
        for (place, constraint) in constraints.enumerated() {
            guard let values = UniqueValues(constraint.names, in: row.values, entity.layout),
                let owner = step.ownerOf[place][values]
            else { continue }
            switch answer {
            case .fail: throw failure(constraint, row)
            case .keepStored: return
            case .writeGiven: return merge(row, row.given, into: owner, constraints, &step)
            case .writeAll: return merge(row, Set(row.values.indices), into: owner, constraints, &step)
            }
        }
        step.owners.append(Owner(layout: entity.layout, values: row.values))
        register(step.owners.count - 1, constraints, &step)
    }

    private func register(_ index: Int, _ constraints: [UniqueConstraint], _ step: inout Step) {
        let owner = step.owners[index]
        for (place, constraint) in constraints.enumerated() {
            guard let values = UniqueValues(constraint.names, in: owner.values, owner.layout) else { continue }
            step.ownerOf[place][values] = index
        }
    }

    /// Writes values to the existing row. It may be of another entity of the family; properties that it does not have
    /// are skipped.
    private func merge(
        _ row: NewRow, _ slots: Set<Int>, into index: Int, _ constraints: [UniqueConstraint], _ step: inout Step
    ) {
        let before = step.owners[index]
        for slot in slots where BatchProperty.obstacle(entity.layout.slots[slot]) == nil {
            let target: Int
            if before.layout === entity.layout {
                target = slot
            } else {
                switch before.layout.place(of: entity.layout.slots[slot].name) {
                case .attribute(let found)?, .toOne(let found)?: target = found
                default: continue
                }
            }
            step.owners[index].values[target] = row.values[slot]
            step.owners[index].changed.insert(target)
        }
        for (place, constraint) in constraints.enumerated() {
            guard let values = UniqueValues(constraint.names, in: before.values, before.layout) else { continue }
            step.ownerOf[place][values] = nil
        }
        register(index, constraints, &step)
    }

    private func failure(_ constraint: UniqueConstraint, _ row: NewRow) -> NSError {
        let values = constraint.constants(RowSnapshot.make(row.values, version: 0).values, entity.layout)
        return CoreDataError.make(
            133021,
            "Cannot save to the store \(store.placeName): another \(entity.root.name ?? "") already has the same "
                + "\(constraint.names.joined(separator: " and ")) (\(values.map { "\($0)" }.joined(separator: ", "))). "
                + "Set a merge policy to choose which one to keep.",
            userInfo: ["constraint": constraint.names, "entity": entity.name ?? ""])
    }
}
