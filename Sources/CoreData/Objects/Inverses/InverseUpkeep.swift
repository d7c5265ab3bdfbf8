/// Relationships are changed here, both ends at once.
///
/// Each end is changed by a raw step (`setReference`, `addRaw`, `removeRaw`) that tells the context and touches nothing
/// else; the public operations choose the steps. An object that awakes changes its own end only.
enum InverseUpkeep {
    // MARK: To-one

    /// Sets a to-one relationship: the old destination forgets the owner, the new one takes it in.
    static func set(_ target: NSManagedObject?, of owner: NSManagedObject, slot: Int) {
        if let target { requireSameContext(owner, target, owner.layout.slots[slot].name) }
        let old = owner.toOneTarget(slot)
        setReference(target, of: owner, slot: slot)
        guard old !== target, !owner.flags.contains(.awakening) else { return }
        reconcile(owner, slot: slot, from: old, to: target)
    }

    /// Brings the inverses in line after the to-one relationship in `slot` went from `old` to `new`.
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

    /// Makes the contents of a to-many relationship exactly `members`, in that order if it has one.
    static func replace(_ members: [NSManagedObject], of owner: NSManagedObject, number: Int) {
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

    /// Brings the inverses in line after a to-many relationship went from `old` to what it holds now.
    static func reconcile(_ owner: NSManagedObject, number: Int, from old: Set<NSManagedObject>) {
        guard let inverse = owner.layout.toManyRelationships[number].inverseRelationship else { return }
        let new = owner.toManyState(number).memberSet
        for member in old.subtracting(new) { detach(owner, from: member, inverse) }
        for member in new.subtracting(old) {
            attach(owner, to: member, inverse, back: owner.layout.toManyRelationships[number])
        }
    }

    /// Lets all destinations of an object that came back know of it, also those that were read while it was gone.
    static func rejoin(_ object: NSManagedObject) {
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            guard let target = object.toOneTarget(slot), !target.isDeleted else { continue }
            reconcile(object, slot: slot, from: nil, to: target)
        }
        for (number, state) in object.touchedToMany {
            for member in state.contents where !member.isDeleted { rejoin(object, number: number, with: member) }
        }
    }

    /// Lets `member`, which came back into a to-many relationship of `owner`, know of it.
    static func rejoin(_ owner: NSManagedObject, number: Int, with member: NSManagedObject) {
        let relationship = owner.layout.toManyRelationships[number]
        // A member with a to-one inverse holds the relationship in its own foreign key: nothing to do.
        guard let inverse = relationship.inverseRelationship, inverse.isToMany else { return }
        attach(owner, to: member, inverse, back: relationship)
    }

    // MARK: The far end

    /// `far` forgets `owner` in its relationship `inverse`.
    static func detach(_ owner: NSManagedObject, from far: NSManagedObject, _ inverse: NSPropertyDescription) {
        switch far.layout.place(of: inverse.name) {
        case .toOne(let slot):
            if far.toOneTarget(slot) === owner { setReference(nil, of: far, slot: slot) }
        case .toMany(let number): removeRaw(owner, from: far, number: number)
        default: break
        }
    }

    /// `far` takes `owner` in by its relationship `inverse`; if that is a to-one relationship, the object that had
    /// `far` before forgets it.
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

    /// Whether membership can only be told from the contents: where the inverse is a to-one relationship the member
    /// itself says whose it is, and a list of a hundred thousand need not be read to add to it.
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
