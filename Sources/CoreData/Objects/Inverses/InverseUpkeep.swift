/// Changes of relationships, which update both ends.
///
/// Each end is changed by a raw step (`setReference`, `addRaw`, `removeRaw`) that notifies the context and has no other
/// side effect; the public operations choose the steps. An awaking object changes its own end only.
package enum InverseUpkeep {
    // MARK: To-one

    /// Sets a to-one relationship, and removes the owner from the old destination and adds it to the new one.
    package static func set(_ target: NSManagedObject?, of owner: NSManagedObject, slot: Int) {
        if let target { requireSameContext(owner, target, owner.layout.slots[slot].name) }
        let old = owner.toOneTarget(slot)
        setReference(target, of: owner, slot: slot)
        guard old !== target, !owner.flags.contains(.awakening) else { return }
        reconcile(owner, slot: slot, from: old, to: target)
    }

    /// Updates the inverses after the to-one relationship in `slot` changed from `old` to `new`.
    static func reconcile(_ owner: NSManagedObject, slot: Int, from old: NSManagedObject?, to new: NSManagedObject?) {
        let layout = owner.layout
        guard old !== new, let inverse = layout.traits.toOneInverses[slot - layout.attributeCount] else { return }
        if let old { detach(owner, from: old, inverse) }
        if let new { attach(owner, to: new, inverse, back: layout.slots[slot]) }
    }

    // MARK: To-many

    static func add(_ member: NSManagedObject, to owner: NSManagedObject, number: Int, at index: Int? = nil) {
        let relationship = owner.layout.toManyRelationships[number]
        requireSameContext(owner, member, relationship.name)
        let state = stateForChange(
            owner, number: number, loading: index != nil || needsContents(relationship, member, owner))
        owner.willChange(.toMany(number))
        let isNew = owner.changing(.toMany(number)) { state.insert(member, at: index) }
        guard isNew, !owner.flags.contains(.awakening), let inverse = owner.layout.traits.toManyInverses[number] else {
            return
        }
        attach(owner, to: member, inverse, back: relationship)
    }

    static func remove(_ member: NSManagedObject, from owner: NSManagedObject, number: Int) {
        let state = owner.loadedToManyState(number)
        owner.willChange(.toMany(number))
        let wasMember = owner.changing(.toMany(number)) { state.remove(member) }
        guard wasMember, !owner.flags.contains(.awakening), let inverse = owner.layout.traits.toManyInverses[number]
        else { return }
        detach(owner, from: member, inverse)
    }

    /// Sets the members of a to-many relationship to `members`, in that order if it is ordered.
    package static func replace(_ members: [NSManagedObject], of owner: NSManagedObject, number: Int) {
        let relationship = owner.layout.toManyRelationships[number]
        for member in members { requireSameContext(owner, member, relationship.name) }
        var seen: Set<ObjectIdentifier> = []
        let wanted = members.filter { seen.insert(ObjectIdentifier($0)).inserted }
        let state = owner.loadedToManyState(number)
        owner.willChange(.toMany(number))
        for member in state.contents where !seen.contains(ObjectIdentifier(member)) {
            remove(member, from: owner, number: number)
        }
        for member in wanted where !state.contains(member) { add(member, to: owner, number: number) }
        if state.isOrdered { owner.changing(.toMany(number)) { state.reorder(wanted) } }
        if !state.isLoaded { owner.managedObjectContext?.noteReplacement(inUnread: owner, number: number) }
    }

    /// Updates the inverses after a to-many relationship changed from `old` to its current members.
    static func reconcile(_ owner: NSManagedObject, number: Int, from old: Set<NSManagedObject>) {
        guard let inverse = owner.layout.toManyRelationships[number].inverseRelationship else { return }
        let new = owner.toManyState(number).memberSet
        for member in old.subtracting(new) { detach(owner, from: member, inverse) }
        for member in new.subtracting(old) {
            attach(owner, to: member, inverse, back: owner.layout.toManyRelationships[number])
        }
    }

    /// Adds a restored object to the inverses of all its destinations, including those read while it was deleted.
    static func rejoin(_ object: NSManagedObject) {
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            guard let target = object.toOneTarget(slot), !target.isDeleted else { continue }
            reconcile(object, slot: slot, from: nil, to: target)
        }
        for (number, state) in object.touchedToMany {
            for member in state.contents where !member.isDeleted { rejoin(object, number: number, with: member) }
        }
    }

    /// Adds `owner` to the inverse relationship of `member`, which was restored to a to-many relationship of `owner`.
    static func rejoin(_ owner: NSManagedObject, number: Int, with member: NSManagedObject) {
        let relationship = owner.layout.toManyRelationships[number]
        // A member with a to-one inverse has the relationship in its own foreign key: nothing to do.
        guard let inverse = relationship.inverseRelationship, inverse.isToMany else { return }
        attach(owner, to: member, inverse, back: relationship)
    }

    // MARK: The other end

    /// Removes `owner` from the relationship `inverse` of `far`.
    static func detach(_ owner: NSManagedObject, from far: NSManagedObject, _ inverse: NSPropertyDescription) {
        switch far.layout.place(of: inverse.name) {
        case .toOne(let slot):
            if far.toOneTarget(slot) === owner { setReference(nil, of: far, slot: slot) }
        case .toMany(let number): removeRaw(owner, from: far, number: number)
        default: break
        }
    }

    /// Adds `owner` to the relationship `inverse` of `far`. If that is to-one, `far` is removed from its previous
    /// destination.
    private static func attach(
        _ owner: NSManagedObject, to far: NSManagedObject, _ inverse: NSPropertyDescription,
        back relationship: @autoclosure () -> NSPropertyDescription
    ) {
        switch far.layout.place(of: inverse.name) {
        case .toOne(let slot):
            let previous = far.toOneTarget(slot)
            guard previous !== owner else { return }
            if let previous { detach(far, from: previous, relationship()) }
            setReference(owner, of: far, slot: slot)
        case .toMany(let number): addRaw(owner, to: far, number: number)
        default: break
        }
    }

    // MARK: Raw steps

    private static func setReference(_ target: NSManagedObject?, of owner: NSManagedObject, slot: Int) {
        owner.willChange(.toOne(slot))
        owner.changing(.toOne(slot)) {
            owner.write(target.map { .reference($0.objectID) } ?? .null, slot: slot)
            owner.remember(target, slot: slot)
        }
    }

    private static func addRaw(_ member: NSManagedObject, to owner: NSManagedObject, number: Int) {
        owner.willChange(.toMany(number))
        owner.changing(.toMany(number)) { owner.toManyState(number).insert(member) }
    }

    private static func removeRaw(_ member: NSManagedObject, from owner: NSManagedObject, number: Int) {
        owner.willChange(.toMany(number))
        owner.changing(.toMany(number)) { owner.toManyState(number).remove(member) }
    }

    // MARK: Conditions

    /// True if membership is known only from the contents. With a to-one inverse the member itself refers to its owner,
    /// so that adding to a list of a hundred thousand need not read it.
    private static func needsContents(
        _ relationship: NSRelationshipDescription, _ member: NSManagedObject, _ owner: NSManagedObject
    ) -> Bool {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
            case .toOne(let slot) = member.layout.place(of: inverse.name)
        else { return true }
        return member.toOneTarget(slot) === owner
    }

    private static func stateForChange(_ owner: NSManagedObject, number: Int, loading: Bool) -> ToManyState {
        loading ? owner.loadedToManyState(number) : owner.toManyState(number)
    }

    private static func requireSameContext(
        _ owner: NSManagedObject, _ target: NSManagedObject, _ name: @autoclosure () -> String
    ) {
        precondition(
            owner.isInSameContext(target),
            "Illegal attempt to establish a relationship '\(name())' between objects in different contexts "
                + "(source = \(owner.objectID), destination = \(target.objectID))")
    }
}
