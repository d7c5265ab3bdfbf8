import Foundation
import PredicateSyntax

// SQLite says only that some constraint was broken, by the first row that broke it. Which objects and which rows are
// concerned is found here, for all constraints at once, once that has happened: a save without conflicts pays nothing.

/// Finds the uniqueness conflicts of what a save writes: of objects among themselves and with rows of the store.
///
/// A value that is not set conflicts with nothing. Texts are compared byte by byte, as the store does.
struct ConstraintConflictFinder {
    let context: NSManagedObjectContext

    /// How many combinations of values are looked for with one query.
    private static let batchSize = 200

    /// A constraint, under the topmost entity that has it: what subentities repeat of it is not another one.
    private struct Constraint: Hashable {
        let entity: NSEntityDescription
        let names: [String]
    }

    /// Values of a constraint's properties, comparable as the store compares them.
    private struct Values: Hashable {
        let values: [SlotValue]

        /// `nil` where one of them is not set.
        init?(_ names: [String], in row: RowValues, _ layout: EntityLayout) {
            var found: [SlotValue] = []
            for name in names {
                switch layout.place(of: name) {
                case .attribute(let slot), .toOne(let slot):
                    switch row[slot] {
                    case .null: return nil
                    case .text(let text): found.append(.data(Data(text.utf8)))
                    case let value: found.append(value)
                    }
                default: return nil
                }
            }
            values = found
        }
    }

    /// Objects that are written with the same values.
    private struct Group {
        var objects: [NSManagedObject] = []
        /// The values as a predicate takes them.
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

    // MARK: What is written

    private typealias Candidate = (object: NSManagedObject, row: RowSnapshot)

    /// Changed objects first, then new ones.
    private func candidates(of plan: StorePlan) -> [Candidate] {
        let written = zip(plan.written.objects, plan.written.rows).map { Candidate($0, $1.row) }
            .filter { !$0.object.isDeleted }
        return written.filter { !$0.object.isInserted } + written.filter { $0.object.isInserted }
    }

    private static func constraints(of objects: [NSManagedObject]) -> [Constraint] {
        var seen: Set<Constraint> = []
        var result: [Constraint] = []
        var entities: Set<ObjectIdentifier> = []
        for object in objects where entities.insert(ObjectIdentifier(object.layout)).inserted {
            var chain: [NSEntityDescription] = []
            var entity: NSEntityDescription? = object.entity
            while let current = entity {
                chain.insert(current, at: 0)
                entity = current.superentity
            }
            var names: Set<[String]> = []
            for entity in chain {
                for constraint in entity.uniquenessConstraintNames where names.insert(constraint).inserted {
                    let found = Constraint(entity: entity, names: constraint)
                    if seen.insert(found).inserted { result.append(found) }
                }
            }
        }
        return result
    }

    // MARK: Conflicts

    private func conflicts(
        over constraint: Constraint, _ candidates: [Candidate], _ plan: StorePlan
    ) throws -> [NSConstraintConflict] {
        var groups: [Values: Group] = [:]
        var order: [Values] = []
        var written: Set<NSManagedObjectID> = []
        for (object, row) in candidates where object.entity.isKindOf(entity: constraint.entity) {
            guard Self.writes(constraint.names, object) else { continue }
            written.insert(object.objectID)
            guard let values = Values(constraint.names, in: row.values, object.layout) else { continue }
            if groups[values] == nil {
                order.append(values)
                groups[values] = Group(constants: Self.constants(constraint.names, row.values, object.layout))
            }
            groups[values]?.objects.append(object)
        }
        guard !groups.isEmpty else { return [] }
        written.formUnion(plan.changes.deleted.map(\.id))
        let rows = try rows(having: order.compactMap { groups[$0]?.constants }, constraint, in: plan.store)
        var owners: [Values: (id: NSManagedObjectID, row: RowSnapshot)] = [:]
        for (id, row) in rows where !written.contains(id) {
            guard let values = Values(constraint.names, in: row.values, id.entity.layout) else { continue }
            owners[values] = (id, row)
        }
        return order.compactMap { values in
            guard let group = groups[values] else { return nil }
            let owner = owners[values]
            guard owner != nil || group.objects.count > 1 else { return nil }
            return conflict(constraint.names, group.objects, owner)
        }
    }

    /// Whether the save writes the object's values of the constraint.
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

    // MARK: Rows

    private static func constants(_ names: [String], _ row: RowValues, _ layout: EntityLayout) -> [Any] {
        names.compactMap { name in
            switch layout.place(of: name) {
            case .attribute(let slot), .toOne(let slot):
                let type = layout.attribute(at: slot)?.attributeType ?? .objectIDAttributeType
                return AttributeCoercion.value(row[slot], type: type)
            default: return nil
            }
        }
    }

    /// The rows that may have one of the combinations of values: exactly those, or more where the store cannot tell.
    private func rows(
        having combinations: [[Any]], _ constraint: Constraint, in store: NSPersistentStore
    ) throws -> [(NSManagedObjectID, RowSnapshot)] {
        var result: [(NSManagedObjectID, RowSnapshot)] = []
        for start in stride(from: 0, to: combinations.count, by: Self.batchSize) {
            let batch = combinations[start..<min(start + Self.batchSize, combinations.count)]
            var query = StoreQuery(entity: constraint.entity)
            query.predicate = Self.predicate(constraint.names, Array(batch))
            let found = try store.operations.fetch(query)
            result += zip(found.keys, found.rows).map { (store.operations.objectID(for: $0), $1) }
            if found.undone.contains(.predicate) { break }
        }
        return result
    }

    private static func predicate(_ names: [String], _ combinations: [[Any]]) -> PredicateTree {
        if names.count == 1 {
            return .comparison(
                ComparisonTree(
                    left: .keyPath(names), right: .constant(combinations.map { $0[0] }), comparison: .in))
        }
        return .or(
            combinations.map { values in
                .and(
                    zip(names, values).map { name, value in
                        .comparison(
                            ComparisonTree(left: .keyPath([name]), right: .constant(value), comparison: .equalTo))
                    })
            })
    }
}
