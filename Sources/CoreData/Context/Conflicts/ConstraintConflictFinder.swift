import Foundation
import PredicateSyntax

// SQLite reports only that a constraint was violated, at the first row. The objects and rows of all conflicts are found
// here, after a violation, so a save without conflicts costs nothing extra.

/// Finds the uniqueness conflicts of a save: among its objects, and with rows of the store.
///
/// A value that is not set conflicts with no other. Texts are compared byte by byte, as in the store.
struct ConstraintConflictFinder {
    let context: NSManagedObjectContext

    /// Objects that are written with the same values.
    private struct Group {
        var objects: [NSManagedObject] = []
        /// The values as constants of a predicate.
        let constants: [Any]
    }

    /// The conflicts of one store's part of a save, in the order of the objects.
    func conflicts(in plan: StorePlan) throws -> [NSConstraintConflict] {
        var result: [NSConstraintConflict] = []
        let candidates = candidates(of: plan)
        for constraint in Self.constraints(of: candidates.map(\.object)) {
            result += try conflicts(over: constraint, candidates, plan)
        }
        return result
    }

    // MARK: Written objects

    private typealias Candidate = (object: NSManagedObject, row: RowSnapshot)

    /// The objects that the save writes, with their rows: changed ones first, then new ones.
    private func candidates(of plan: StorePlan) -> [Candidate] {
        let written = zip(plan.written.objects, plan.written.rows).map { Candidate($0, $1.row) }
            .filter { !$0.object.isDeleted }
        return written.filter { !$0.object.isInserted } + written.filter { $0.object.isInserted }
    }

    private static func constraints(of objects: [NSManagedObject]) -> [UniqueConstraint] {
        var seen: Set<UniqueConstraint> = []
        var entities: Set<ObjectIdentifier> = []
        var result: [UniqueConstraint] = []
        for object in objects where entities.insert(ObjectIdentifier(object.layout)).inserted {
            result += UniqueConstraint.all(of: object.entity).filter { seen.insert($0).inserted }
        }
        return result
    }

    // MARK: Conflicts

    private func conflicts(
        over constraint: UniqueConstraint, _ candidates: [Candidate], _ plan: StorePlan
    ) throws -> [NSConstraintConflict] {
        var groups: [UniqueValues: Group] = [:]
        var order: [UniqueValues] = []
        var written: Set<NSManagedObjectID> = []
        for (object, row) in candidates where object.entity.isKindOf(entity: constraint.entity) {
            guard Self.writes(constraint.names, object) else { continue }
            written.insert(object.objectID)
            guard let values = UniqueValues(constraint.names, in: row.values, object.layout) else { continue }
            if groups[values] == nil {
                order.append(values)
                groups[values] = Group(constants: constraint.constants(row.values, object.layout))
            }
            groups[values]?.objects.append(object)
        }
        guard !groups.isEmpty else { return [] }
        written.formUnion(plan.changes.deleted.map(\.id))
        let rows = try constraint.rows(having: order.compactMap { groups[$0]?.constants }, in: plan.store)
        var owners: [UniqueValues: (id: NSManagedObjectID, row: RowSnapshot)] = [:]
        for (id, row) in rows where !written.contains(id) {
            guard let values = UniqueValues(constraint.names, in: row.values, id.entity.layout) else { continue }
            owners[values] = (id, row)
        }
        return order.compactMap { values in
            guard let group = groups[values] else { return nil }
            let owner = owners[values]
            guard owner != nil || group.objects.count > 1 else { return nil }
            return conflict(constraint.names, group.objects, owner)
        }
    }

    /// True if the save writes the object's values of the constraint.
    private static func writes(_ names: [String], _ object: NSManagedObject) -> Bool {
        if object.isInserted { return true }
        let changed = ChangedValues.changedSlots(of: object)
        return names.contains { name in
            switch object.layout.place(of: name) {
            case .attribute(let slot), .toOne(let slot): changed.contains(slot)
            default: false
            }
        }
    }

    private func conflict(
        _ names: [String], _ objects: [NSManagedObject], _ owner: (id: NSManagedObjectID, row: RowSnapshot)?
    ) -> NSConstraintConflict {
        let known = owner.map { context.registry.object(for: $0.id, row: $0.row) }
        let snapshots = objects.map { object -> Any in
            guard !object.isInserted, let snapshot = object.snapshot else { return NSNull() }
            return ChangedValues.dictionary(of: snapshot.values, object.layout)
        }
        return NSConstraintConflict(
            constraint: names, database: known,
            databaseSnapshot: owner.map { ChangedValues.dictionary(of: $0.row.values, $0.id.entity.layout) },
            conflicting: objects, conflictingSnapshots: snapshots)
    }
}
