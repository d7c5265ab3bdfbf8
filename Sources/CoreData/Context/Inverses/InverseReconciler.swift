// Two contexts may edit the two ends of one relationship differently: here a player joins one team, elsewhere, saved, another.
// The rule is that of all values: what is edited here and not saved stays on top of what is beneath. And it holds for both
// ends at once: the team that has the player beneath shows it no longer, as if the edit had been made after the other one.
// That is an unsaved change of the far end, but none that the program made, so it cannot be undone by itself. An object
// that was deleted here, and is not gone yet, is in the same way no destination of what others let refer to it since.

/// Brings the far ends of an object's to-one relationships in line after its saved row, or its own values, were replaced
/// from outside: by a merge, a refresh, a merge policy.
struct InverseReconciler {
    private let object: NSManagedObject
    private let row: [SlotValue]
    private let values: [SlotValue]

    /// What `object` refers to before the replacement; `nil` where that can make no difference.
    init?(before object: NSManagedObject) {
        guard object.layout.slots.count > object.layout.attributeCount, let row = object.snapshot?.values.array else {
            return nil
        }
        self.object = object
        self.row = row
        values = !object.hasOwnValues ? row : object.values
    }

    /// To be called once the object has its new row and values.
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

    /// One slot's change, in the row and in what is to be seen.
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

        /// Lists that have the object, or had it, are read anew, with what is edited here on top.
        func followInLists() {
            var stored: NSManagedObject?
            if case .reference(let id) = newRow {
                // Where the edit takes the object out of a list, that has to be noted in an object.
                stored = newRow == newValue ? known(newRow) : context.registry.object(for: id)
            }
            let wanted = known(newValue)
            var done: Set<ObjectIdentifier> = []
            for far in [known(oldRow), known(oldValue), stored, wanted] {
                guard let far, done.insert(ObjectIdentifier(far)).inserted,
                    case .toMany(let number) = far.layout.place(of: inverse.name)
                else { continue }
                if far.isDeleted {
                    // Should it come back, it reads its list anew.
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

        /// A far end that still refers to the object, by its row or by an edit whose other half is gone.
        private func forgetObject(_ far: NSManagedObject) {
            guard !far.isFault, !far.isDeleted, case .toOne(let back) = far.layout.place(of: inverse.name),
                far.toOneTarget(back) === object, far === known(newRow) || InverseReconciler.isEdited(far, slot: back)
            else { return }
            InverseReconciler.dropReference(of: far, slot: back)
        }
    }

    // MARK: What is read

    /// The members of a list as they were read, without those that an unsaved edit of their own has taken elsewhere.
    static func members(
        _ read: [NSManagedObject], of owner: NSManagedObject, _ relationship: NSRelationshipDescription,
        _ state: ToManyState
    ) -> [NSManagedObject] {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
            owner.managedObjectContext?.changes.hasChanges == true
        else { return read }
        // What the list itself knows to be taken out stays among the saved contents.
        return read.filter { state.removed.contains($0) || !isEdited($0, inverse, awayFrom: owner) }
    }

    /// Takes out of a list that was just read what was deleted here before, and what an unsaved edit has taken out of the
    /// other end.
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

    /// Takes out of an object's to-one relationships what was deleted here before.
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

    /// Whether an unsaved edit has taken `owner` out of a list of `member`.
    private static func hasLeft(
        _ member: NSManagedObject, _ relationship: NSRelationshipDescription, _ owner: NSManagedObject
    ) -> Bool {
        guard case .toMany(let number) = member.layout.place(of: relationship.name) else { return false }
        return member.knownToManyState(number)?.removed.contains(owner) ?? false
    }

    /// Deleted, and what that reaches was reached.
    private static func isGone(_ object: NSManagedObject) -> Bool {
        object.flags.contains(.deleted) && object.flags.isDisjoint(with: [.pendingDeleted, .inaccessible])
    }

    /// Whether an object that goes lets its neighbours know by this relationship.
    static func tellsOfDeletion(_ relationship: NSRelationshipDescription?) -> Bool {
        switch relationship?.deleteRule {
        case .nullifyDeleteRule?, .cascadeDeleteRule?: true
        default: false
        }
    }

    /// A fault became real: a destination that refers elsewhere by an unsaved edit is not taken from its row, nor one that
    /// is deleted here.
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

    /// Whether an unsaved edit lets the to-one relationship of `object` lead elsewhere than to `target`.
    private static func isEdited(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription, awayFrom target: NSManagedObject
    ) -> Bool {
        guard !object.flags.isDisjoint(with: [.updated, .inserted]), !object.isDeleted,
            case .toOne(let slot) = object.layout.place(of: relationship.name), isEdited(object, slot: slot)
        else { return false }
        return object.toOneTarget(slot) !== target
    }

    /// The object's reference becomes `nil`: to be saved, but no change of the event.
    static func dropReference(of object: NSManagedObject, slot: Int) {
        object.changing(.toOne(slot)) {
            object.write(.null, slot: slot)
            object.remember(nil, slot: slot)
        }
        object.baseline = object.baseline?.settingNull(slot)
        object.managedObjectContext?.changes.noteUnsaved(object)
    }
}
