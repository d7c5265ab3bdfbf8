import Foundation
import PredicateSyntax

/// Derived attributes in memory: the store computes their values while it saves, and the objects take them over after it.
struct DerivedValues {
    let context: NSManagedObjectContext

    /// The plans with the rows as the store has them now: those of entities with derived attributes are read again, with one
    /// query. Where that fails the values stay as they were until somebody refreshes.
    func completing(_ plans: [StorePlan]) -> [StorePlan] {
        let derived = plans.flatMap(\.written).map(\.object).filter { !$0.layout.traits.derivedSlots.isEmpty }
        guard !derived.isEmpty, let rows = try? context.source?.rows(for: derived.map(\.objectID)) else { return plans }
        return plans.map { plan in
            var plan = plan
            for index in plan.written.indices {
                let (object, row) = plan.written[index]
                guard let stored = rows[object.objectID], stored.version == row.version else { continue }
                plan.written[index].row = Self.row(row, with: stored, object.layout.traits.derivedSlots)
            }
            return plan
        }
    }

    /// Takes over what the save changed in objects that were not saved themselves, but derive values from those that were.
    func updateDependents(of plans: [StorePlan]) {
        let saved = plans.flatMap(\.objects)
        let written = Set(plans.flatMap(\.written).map { ObjectIdentifier($0.object) })
        let entities = Set(saved.flatMap { $0.layout.entity.lineage.map(ObjectIdentifier.init) })
        let model = saved.first?.layout.entity.managedObjectModel
        let deriving = (model?.entities ?? []).filter { entity in
            entity.layout.traits.derivedFrom.contains { entities.contains(ObjectIdentifier($0)) }
        }
        guard !deriving.isEmpty, let source = context.source else { return }
        let layouts = Set(deriving.map { ObjectIdentifier($0.layout) })
        var stale: [NSManagedObject] = []
        context.registry.forEach { object in
            guard object.snapshot != nil, object.flags.contains(.stored),
                layouts.contains(ObjectIdentifier(object.layout)),
                !written.contains(ObjectIdentifier(object))
            else { return }
            stale.append(object)
        }
        guard !stale.isEmpty, let rows = try? source.rows(for: stale.map(\.objectID)) else { return }
        for object in stale {
            guard let old = object.snapshot, let stored = rows[object.objectID] else { continue }
            update(object, Self.row(old, with: stored, object.layout.traits.derivedSlots), old)
        }
    }

    private func update(_ object: NSManagedObject, _ row: RowSnapshot, _ old: RowSnapshot) {
        let slots = object.layout.traits.derivedSlots.filter { row.values[$0] != old.values[$0] }
        guard !slots.isEmpty else { return }
        let announced = object.announcing(slots.map { .attribute($0) })
        defer { announced?.end() }
        if !object.values.isEmpty { for slot in slots { object.values[slot] = row.values[slot] } }
        object.snapshot = row
        if !object.isFault { context.changes.noteRefresh(object) }
    }

    private static func row(_ row: RowSnapshot, with stored: RowSnapshot, _ slots: [Int]) -> RowSnapshot {
        guard slots.contains(where: { row.values[$0] != stored.values[$0] }) else { return row }
        var values = row.values
        for slot in slots { values[slot] = stored.values[slot] }
        return RowSnapshot(values: values, version: row.version)
    }
}

extension NSEntityDescription {
    /// The entity and its ancestors.
    fileprivate var lineage: [NSEntityDescription] { [self] + (superentity?.lineage ?? []) }
}
