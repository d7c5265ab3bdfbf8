/// Applies the delete rules of objects that were deleted since the event began, and of those that the rules delete.
///
/// A deleted object keeps its own values, so observers and the check of a deny rule still see its destinations; only
/// the inverses are updated. Runs in waves: one query reads each relationship of a wave, and one the destinations that
/// must change, however many objects were deleted.
struct DeletePropagation {
    let context: NSManagedObjectContext
    private var visited: Set<ObjectIdentifier> = []

    init(context: NSManagedObjectContext) { self.context = context }

    /// - Parameters:
    ///   - earlier: Objects deleted in earlier events, whose rules are not applied yet.
    ///   - isWanted: Chooses the objects deleted in this event whose rules are applied.
    mutating func run(_ earlier: [NSManagedObject], among isWanted: (NSManagedObject) -> Bool = { _ in true }) {
        let postponed = earlier.filter { $0.isDeleted && visited.insert(ObjectIdentifier($0)).inserted }
        if !postponed.isEmpty { propagate(postponed) }
        while true {
            let wave = context.changes.pendingDeleted.all.filter {
                $0.isDeleted && isWanted($0) && !$0.flags.contains(.inaccessible)
                    && visited.insert(ObjectIdentifier($0)).inserted
            }
            if wave.isEmpty { return }
            propagate(wave)
        }
    }

    private func propagate(_ wave: [NSManagedObject]) {
        prefetch(wave)
        for object in wave {
            for slot in object.layout.attributeCount..<object.layout.slots.count {
                guard let relationship = object.layout.slots[slot] as? NSRelationshipDescription,
                    let target = object.toOneTarget(slot)
                else { continue }
                apply(relationship, of: object, to: [target])
            }
            for (number, relationship) in object.layout.toManyRelationships.enumerated()
            where Self.reachesDestinations(relationship) {
                apply(relationship, of: object, to: object.toManyTargets(number))
            }
        }
    }

    private func apply(_ rule: NSRelationshipDescription, of object: NSManagedObject, to targets: [NSManagedObject]) {
        switch rule.deleteRule {
        case .cascadeDeleteRule: for target in targets where !target.isDeleted { context.delete(target) }
        case .nullifyDeleteRule:
            guard let inverse = rule.inverseRelationship else { return }
            for target in targets where !target.isDeleted { InverseUpkeep.detach(object, from: target, inverse) }
        case .denyDeleteRule, .noActionDeleteRule: break
        }
    }

    private static func reachesDestinations(_ relationship: NSRelationshipDescription) -> Bool {
        switch relationship.deleteRule {
        case .cascadeDeleteRule: true
        case .nullifyDeleteRule: relationship.inverseRelationship != nil
        case .denyDeleteRule, .noActionDeleteRule: false
        }
    }

    /// Reads everything that the wave touches, in few queries. If that fails, firing the single fault fails again and
    /// reports the error.
    private func prefetch(_ wave: [NSManagedObject]) {
        let families = Dictionary(grouping: wave, by: { ObjectIdentifier($0.layout) })
        for owners in families.values {
            try? context.faults.fire(owners)
            guard let layout = owners.first?.layout else { continue }
            for (number, relationship) in layout.toManyRelationships.enumerated()
            where Self.reachesDestinations(relationship) {
                context.faults.load(owners, number: number, rowLimit: .max)
                try? context.faults.fire(owners.flatMap { $0.toManyState(number).contents })
            }
        }
    }
}
