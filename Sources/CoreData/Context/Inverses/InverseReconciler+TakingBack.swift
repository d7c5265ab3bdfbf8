extension InverseReconciler {
    /// Reverts the deletion of a saved object after its event: the object has the values of its row and is added again
    /// to inverses that the deletion removed it from, unless another object replaced it there.
    ///
    /// Objects that the deletion also deleted stay deleted. A relationship whose contents cannot be read is not
    /// changed.
    static func takeBackDeletion(of object: NSManagedObject, _ context: NSManagedObjectContext) {
        leaveDeleted(object)
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            guard let target = object.toOneTarget(slot), !target.isDeleted,
                let inverse = (object.layout.slots[slot] as? NSRelationshipDescription)?.inverseRelationship
            else { continue }
            switch target.layout.place(of: inverse.name) {
            case .toOne(let back)?: takeBack(target, slot: back, to: object, otherwise: slot)
            case .toMany(let number)?: takeBack(target, number: number, with: object)
            default: break
            }
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated() {
            guard let inverse = relationship.inverseRelationship else { continue }
            if let state = object.knownToManyState(number), state.isLoaded { state.turnIntoFault() }
            let read = try? context.source?.destinations(of: relationship, from: [object.objectID])
            for id in read?[object.objectID] ?? [] {
                guard let member = context.registry.registered(id), !member.isDeleted else { continue }
                switch member.layout.place(of: inverse.name) {
                case .toOne(let slot)?: takeBack(member, slot: slot, to: object, otherwise: nil)
                case .toMany(let number)?: takeBack(member, number: number, with: object)
                default: break
                }
            }
        }
    }

    /// Makes a destination whose inverse is nil refer to `object` again. If it refers to another object, `object` drops
    /// its own reference.
    private static func takeBack(
        _ far: NSManagedObject, slot: Int, to object: NSManagedObject, otherwise own: Int?
    ) {
        guard let other = far.toOneTarget(slot) else {
            far.changing(.toOne(slot)) {
                far.write(.reference(object.objectID), slot: slot)
                far.remember(object, slot: slot)
            }
            far.managedObjectContext?.changes.noteUnsaved(far)
            return
        }
        if other !== object, let own { dropReference(of: object, slot: own) }
    }

    private static func takeBack(_ far: NSManagedObject, number: Int, with object: NSManagedObject) {
        guard let state = far.knownToManyState(number), !state.contains(object) else { return }
        far.changing(.toMany(number)) {
            guard far.flags.contains(.stored) else { return _ = state.insert(object) }
            if state.isLoaded { state.turnIntoFault() }
            state.rebase(object, isStored: true, isWanted: true)
        }
        far.managedObjectContext?.changes.noteRefresh(far)
    }

    // MARK: Undo

    /// Removes `owner` from the inverse in `target`, its former destination in `slot`, after an undo, unless that was
    /// done.
    static func leave(_ target: NSManagedObject, of owner: NSManagedObject, slot: Int) {
        guard let inverse = (owner.layout.slots[slot] as? NSRelationshipDescription)?.inverseRelationship,
            owner.toOneTarget(slot) !== target, has(owner, target, inverse, slot)
        else { return }
        InverseUpkeep.detach(owner, from: target, inverse)
    }

    /// Adds `owner` to the inverse in `target`, its restored destination in `slot`, after an undo, unless that was
    /// done.
    static func join(_ target: NSManagedObject, of owner: NSManagedObject, slot: Int) {
        guard let inverse = (owner.layout.slots[slot] as? NSRelationshipDescription)?.inverseRelationship,
            !has(owner, target, inverse, slot)
        else { return }
        InverseUpkeep.reconcile(owner, slot: slot, from: nil, to: target)
    }

    /// Removes references to an object that an undo or redo deleted, including those made since.
    static func leaveAll(_ object: NSManagedObject) {
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            guard let relationship = object.layout.slots[slot] as? NSRelationshipDescription,
                let inverse = relationship.inverseRelationship, isLeft(object, by: relationship),
                let target = object.toOneTarget(slot), !target.isDeleted, has(object, target, inverse, slot)
            else { continue }
            InverseUpkeep.detach(object, from: target, inverse)
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated() {
            guard let inverse = relationship.inverseRelationship, isLeft(object, by: relationship) else { continue }
            for member in object.toManyTargets(number) where !member.isDeleted {
                InverseUpkeep.detach(object, from: member, inverse)
            }
        }
    }

    /// All references to a dropped object are removed; otherwise the delete rule decides.
    private static func isLeft(_ object: NSManagedObject, by relationship: NSRelationshipDescription) -> Bool {
        object.flags.contains(.dropped) || tellsOfDeletion(relationship)
    }

    /// True if `far` has `owner`, whose `slot` refers or referred to it, in the inverse. Reads no list.
    private static func has(
        _ owner: NSManagedObject, _ far: NSManagedObject, _ inverse: NSRelationshipDescription, _ slot: Int
    ) -> Bool {
        switch far.layout.place(of: inverse.name) {
        case .toOne(let back)?: return far.toOneTarget(back) === owner
        case .toMany(let number)?:
            let state = far.knownToManyState(number)
            if let state, state.isLoaded || state.contains(owner) { return state.contains(owner) }
            guard far.flags.contains(.stored), state?.removed.contains(owner) != true,
                case .reference(let id)? = owner.snapshot?.values[slot]
            else { return false }
            return owner.managedObjectContext?.registry.registered(id) === far
        default: return false
        }
    }
}
