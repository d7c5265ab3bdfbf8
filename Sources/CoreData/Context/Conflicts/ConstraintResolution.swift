import Foundation

// Resolves a conflict over unique values. One of the objects keeps the values:
//
// - If a row has them, the row's object keeps them, and new objects are merged into it. Under object trump and
//   overwrite it takes their values, as if an import had found the row and changed it; under store trump and rollback
//   it takes only the references to them.
// - A saved object that was changed to the values of another row cannot be removed. Under object trump and overwrite it
//   keeps its change, the other row is deleted, and its relationships are moved; under store trump the object's values
//   of the constraint are reverted, under rollback all of its changes.
// - Among objects of one context the first one counts as the row: a saved one, or the one inserted first.
//
// Two saved objects of one context that were changed to the same values are not resolved: either could be right.

/// Applies a merge policy to one uniqueness conflict.
struct ConstraintResolution {
    let conflict: NSConstraintConflict
    let type: NSMergePolicyType

    private var keepsObjects: Bool {
        type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
    }

    /// True if the policy can resolve the conflict.
    var isDecidable: Bool { !keepsObjects || objects.count { !$0.isInserted } < 2 }

    /// The conflicting objects that still have the repeated values. An overrider, or the resolution of another
    /// conflict, may have changed or deleted some.
    private var objects: [NSManagedObject] {
        conflict.conflictingObjects.filter { !$0.isDeleted && $0.managedObjectContext != nil && hasValues($0) }
    }

    func apply() {
        var objects = self.objects
        let row = conflict.databaseObject.flatMap { $0.isDeleted || $0.managedObjectContext == nil ? nil : $0 }
        guard objects.count > (row == nil ? 1 : 0) else { return }
        let keeper: NSManagedObject
        if let row, !(keepsObjects && !objects[0].isInserted) { keeper = row } else { keeper = objects.removeFirst() }
        if let row, row !== keeper { objects.insert(row, at: 0) }
        for loser in objects { settle(loser, in: keeper, isRow: loser === row) }
    }

    private func hasValues(_ object: NSManagedObject) -> Bool {
        conflict.constraint.allSatisfy { name in
            let then = conflict.constraintValues[name]
            switch object.layout.place(of: name) {
            case .attribute(let slot):
                let type = object.layout.attribute(at: slot)?.attributeType ?? .undefinedAttributeType
                return AttributeCoercion.slotValue(then, type: type) == object.slotValue(slot)
            case .toOne(let slot): return object.toOneTarget(slot) === then as? NSManagedObject
            default: return false
            }
        }
    }

    private func settle(_ loser: NSManagedObject, in keeper: NSManagedObject, isRow: Bool) {
        if loser.isInserted || isRow {
            if keepsObjects, !isRow { takeValues(of: loser, into: keeper) }
            Absorption(loser: loser, keeper: keeper).run()
        } else if type == .mergeByPropertyStoreTrumpMergePolicyType {
            takeBack(conflict.constraint, of: loser)
        } else {
            takeBack(Array(loser.changedValues().keys), of: loser)
        }
    }

    // MARK: Values

    /// Copies all attributes, and the to-one relationships that are set; under overwrite all to-one relationships.
    private func takeValues(of loser: NSManagedObject, into keeper: NSManagedObject) {
        keeper.fireIfNeeded()
        for (slot, property) in loser.layout.slots.enumerated() where !property.isTransient {
            switch keeper.layout.place(of: property.name) {
            case .attribute(let place): keeper.setAttribute(loser.currentValue(slot), slot: place)
            case .toOne(let place):
                let target = loser.toOneTarget(slot)
                if target != nil || type == .overwriteMergePolicyType {
                    InverseUpkeep.set(target, of: keeper, slot: place)
                }
            default: continue
            }
        }
    }

    /// Reverts the properties `names` to their saved values.
    private func takeBack(_ names: [String], of object: NSManagedObject) {
        let saved = object.committedValues(forKeys: names)
        for name in names {
            let value = saved[name]
            object.setValue(value is NSNull ? nil : value, forKey: name)
        }
    }
}

/// Deletes `loser`, and moves to `keeper` the references to it and the destinations that `keeper` lacks.
struct Absorption {
    let loser: NSManagedObject
    let keeper: NSManagedObject

    func run() {
        guard let context = keeper.managedObjectContext else { return }
        loser.fireIfNeeded()
        keeper.fireIfNeeded()
        moveDestinations()
        moveReferences(in: context)
        context.delete(loser)
    }

    /// Moves the members of to-many relationships; a to-one destination is moved if the keeper has none. Afterwards the
    /// loser has no destinations, so its delete rules reach no object.
    private func moveDestinations() {
        for (number, relationship) in loser.layout.toManyRelationships.enumerated() where !relationship.isTransient {
            let members = loser.toManyTargets(number)
            InverseUpkeep.replace([], of: loser, number: number)
            guard case .toMany(let place) = keeper.layout.place(of: relationship.name) else { continue }
            for member in members where member !== loser && !member.isDeleted {
                InverseUpkeep.add(member, to: keeper, number: place)
            }
        }
        for slot in loser.layout.attributeCount..<loser.layout.slots.count {
            guard let target = loser.toOneTarget(slot) else { continue }
            InverseUpkeep.set(nil, of: loser, slot: slot)
            guard case .toOne(let place) = keeper.layout.place(of: loser.layout.slots[slot].name), target !== keeper,
                !target.isDeleted, keeper.toOneTarget(place) == nil
            else { continue }
            InverseUpkeep.set(target, of: keeper, slot: place)
        }
    }

    /// Moves unsaved references to a new object through relationships without an inverse.
    private func moveReferences(in context: NSManagedObjectContext) {
        guard loser.isInserted else { return }
        for object in context.changes.inserted.all + context.changes.updated.all where object !== loser {
            for slot in object.layout.attributeCount..<object.layout.slots.count {
                guard let relationship = object.layout.slots[slot] as? NSRelationshipDescription,
                    relationship.inverseRelationship == nil, object.hasOwnValues, object.toOneTarget(slot) === loser
                else { continue }
                InverseUpkeep.set(keeper, of: object, slot: slot)
            }
            for (number, state) in object.touchedToMany {
                guard object.layout.toManyRelationships[number].inverseRelationship == nil, state.contains(loser) else {
                    continue
                }
                InverseUpkeep.remove(loser, from: object, number: number)
                InverseUpkeep.add(keeper, to: object, number: number)
            }
        }
    }
}
