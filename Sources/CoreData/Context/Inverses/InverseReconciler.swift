// Two contexts may edit the two ends of one relationship differently: a player joins one team here, and another team
// elsewhere, where it is saved. As for all values, the unsaved edit made here stays on top of the saved row. This holds
// for both ends: the team that has the player in its saved contents no longer shows it, as if the edit had been made
// later. That is an unsaved change of the team, but not one that the program made, so it cannot be undone separately.
// Likewise, an object that was deleted here, but not in the store yet, is removed from relationships that others
// changed to refer to it.

/// Updates the inverses of an object's to-one relationships after a merge, a refresh or a merge policy replaced its
/// saved row or its own values.
struct InverseReconciler {
    private let object: NSManagedObject
    private let row: [SlotValue]
    private let values: [SlotValue]

    /// Records the destinations of `object` before the replacement; `nil` if it has none that could change.
    init?(before object: NSManagedObject) {
        guard object.layout.slots.count > object.layout.attributeCount, let row = object.snapshot?.values.array else {
            return nil
        }
        self.object = object
        self.row = row
        values = !object.hasOwnValues ? row : object.values
    }

    /// Updates the inverses. Called after the object has its new row and values.
    func follow() {
        guard let context = object.managedObjectContext, let newRow = object.snapshot?.values.array else { return }
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            let newValue = object.currentValue(slot)
            guard newRow[slot] != row[slot] || newValue != values[slot],
                let relationship = object.layout.slots[slot] as? NSRelationshipDescription,
                let inverse = relationship.inverseRelationship
            else { continue }
            let change = Change(
                object: object, slot: slot, inverse: inverse, context: context, oldRow: row[slot],
                oldValue: values[slot], newRow: newRow[slot], newValue: newValue)
            if inverse.isToMany { change.followInLists() } else { change.followOneToOne() }
        }
        Self.leaveDeleted(object)
    }

    /// The change of one slot, in the row and in the visible value.
    private struct Change {
        let object: NSManagedObject
        let slot: Int
        let inverse: NSRelationshipDescription
        let context: NSManagedObjectContext
        let oldRow: SlotValue
        let oldValue: SlotValue
        let newRow: SlotValue
        let newValue: SlotValue

        private func known(_ value: SlotValue) -> NSManagedObject? {
            guard case .reference(let id) = value else { return nil }
            return context.registry.registered(id)
        }

        /// Updates the lists that contain or contained the object: they are read again, and the unsaved edits of this
        /// context are applied to them.
        func followInLists() {
            var stored: NSManagedObject?
            if case .reference(let id) = newRow {
                // If an unsaved edit removes the object from the saved list, the list's owner must record that. So an
                // object is created for an owner that has none yet.
                stored = newRow == newValue ? known(newRow) : context.registry.object(for: id)
            }
            let wanted = known(newValue)
            var done: Set<ObjectIdentifier> = []
            for far in [known(oldRow), known(oldValue), stored, wanted] {
                guard let far, done.insert(ObjectIdentifier(far)).inserted,
                    case .toMany(let number) = far.layout.place(of: inverse.name)
                else { continue }
                if far.isDeleted {
                    // The list of a deleted owner becomes a fault, so it is read again if the owner is restored.
                    if let state = far.knownToManyState(number), state.isLoaded { state.turnIntoFault() }
                    continue
                }
                let (isStored, isWanted) = (far === stored, far === wanted)
                if isStored == isWanted, far.knownToManyState(number) == nil { continue }
                let state = far.toManyState(number)
                far.changing(.toMany(number)) {
                    if far.flags.contains(.stored) {
                        if state.isLoaded { state.turnIntoFault() }
                        state.rebase(object, isStored: isStored, isWanted: isWanted)
                    } else if !isWanted {
                        state.discard(object)
                    }
                }
                if isStored != isWanted { context.changes.noteUnsaved(far) }
            }
        }

        func followOneToOne() {
            let (stored, wanted) = (known(newRow), known(newValue))
            if stored !== wanted {
                if let stored { forgetObject(stored) }
            } else if let wanted, InverseReconciler.isEdited(wanted, inverse, awayFrom: object) {
                InverseReconciler.dropReference(of: object, slot: slot)
            }
            if let old = known(oldValue), old !== wanted, old !== stored { forgetObject(old) }
        }

        /// Removes the reference from a destination that still refers to the object, by its row or by an edit that is
        /// no longer valid.
        private func forgetObject(_ far: NSManagedObject) {
            guard !far.isFault, !far.isDeleted, case .toOne(let back) = far.layout.place(of: inverse.name),
                far.toOneTarget(back) === object, far === known(newRow) || InverseReconciler.isEdited(far, slot: back)
            else { return }
            InverseReconciler.dropReference(of: far, slot: back)
        }
    }

    // MARK: Contents that are read

    /// The members of a list as they were read, without those that an unsaved edit of their own has moved to another
    /// owner.
    static func members(
        _ read: [NSManagedObject], of owner: NSManagedObject, _ relationship: NSRelationshipDescription,
        _ state: ToManyState
    ) -> [NSManagedObject] {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
            owner.managedObjectContext?.changes.hasChanges == true
        else { return read }
        // `ToManyState` compares removals with the saved contents: members that the list itself removed stay in them.
        return read.filter { state.removed.contains($0) || !isEdited($0, inverse, awayFrom: owner) }
    }

    /// Removes from a list that was just read the members that were deleted here, and those whose own list no longer
    /// has the owner because of an unsaved edit.
    static func takeOutDeleted(
        of owner: NSManagedObject, _ relationship: NSRelationshipDescription, _ state: ToManyState
    ) {
        guard let changes = owner.managedObjectContext?.changes, changes.hasChanges, !owner.isDeleted,
            let inverse = relationship.inverseRelationship
        else { return }
        let isToldOfDeletion = tellsOfDeletion(inverse)
        for member in state.contents where isToldOfDeletion && isGone(member) || hasLeft(member, inverse, owner) {
            state.takeOut(member)
            changes.noteUnsaved(owner)
        }
    }

    /// Drops references of an object to others that were deleted here.
    static func leaveDeleted(_ object: NSManagedObject) {
        guard let context = object.managedObjectContext, !context.changes.deleted.isEmpty, !object.isDeleted else {
            return
        }
        for slot in object.layout.attributeCount..<object.layout.slots.count {
            guard case .reference(let id) = object.currentValue(slot), let far = context.registry.registered(id),
                isGone(far),
                tellsOfDeletion((object.layout.slots[slot] as? NSRelationshipDescription)?.inverseRelationship)
            else { continue }
            dropReference(of: object, slot: slot)
        }
    }

    /// True if an unsaved edit has removed `owner` from a list of `member`.
    private static func hasLeft(
        _ member: NSManagedObject, _ relationship: NSRelationshipDescription, _ owner: NSManagedObject
    ) -> Bool {
        guard case .toMany(let number) = member.layout.place(of: relationship.name) else { return false }
        return member.knownToManyState(number)?.removed.contains(owner) ?? false
    }

    /// Deleted, with delete rules already applied.
    private static func isGone(_ object: NSManagedObject) -> Bool {
        object.flags.contains(.deleted) && object.flags.isDisjoint(with: [.pendingDeleted, .inaccessible])
    }

    /// True if deleting an object updates its destinations through this relationship.
    static func tellsOfDeletion(_ relationship: NSRelationshipDescription?) -> Bool {
        switch relationship?.deleteRule {
        case .nullifyDeleteRule?, .cascadeDeleteRule?: true
        default: false
        }
    }

    /// Adjusts an object whose fault was fired: drops references of its row to objects that refer elsewhere by an
    /// unsaved edit, or that were deleted here.
    static func settle(_ object: NSManagedObject) {
        leaveDeleted(object)
        for slot in object.layout.traits.oneToOneSlots {
            guard case .reference(let id) = object.currentValue(slot),
                let inverse = (object.layout.slots[slot] as? NSRelationshipDescription)?.inverseRelationship,
                let far = object.managedObjectContext?.registry.registered(id),
                isEdited(far, inverse, awayFrom: object)
            else { continue }
            dropReference(of: object, slot: slot)
        }
    }

    // MARK: Edits

    private static func isEdited(_ object: NSManagedObject, slot: Int) -> Bool {
        guard object.hasOwnValues, let row = object.snapshot else { return false }
        return !ChangedValues.same(object.values[slot], row.values[slot], object)
    }

    /// True if an unsaved edit gives the to-one relationship of `object` another destination than `target`.
    private static func isEdited(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription, awayFrom target: NSManagedObject
    ) -> Bool {
        guard !object.flags.isDisjoint(with: [.updated, .inserted]), !object.isDeleted,
            case .toOne(let slot) = object.layout.place(of: relationship.name), isEdited(object, slot: slot)
        else { return false }
        return object.toOneTarget(slot) !== target
    }

    /// Sets the object's reference to `nil`: to be saved, but not as a change of the event.
    static func dropReference(of object: NSManagedObject, slot: Int) {
        object.changing(.toOne(slot)) {
            object.write(.null, slot: slot)
            object.remember(nil, slot: slot)
        }
        object.baseline = object.baseline?.settingNull(slot)
        object.managedObjectContext?.changes.noteUnsaved(object)
    }
}
