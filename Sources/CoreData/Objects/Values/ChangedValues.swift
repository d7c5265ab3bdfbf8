import Foundation

/// Differences between an object and its saved values, or its values at the beginning of the current event.
enum ChangedValues {
    /// The persistent slots whose values differ from the saved row.
    static func changedSlots(of object: NSManagedObject) -> [Int] {
        guard let snapshot = object.snapshot else {
            return object.managedObjectContext?.slotsSet(inUnread: object) ?? []
        }
        guard object.hasOwnValues else { return [] }
        let isTransient = object.layout.traits.isTransient
        return isTransient.indices.filter { slot in
            !isTransient[slot] && !same(object.currentValue(slot), snapshot.values[slot], object)
        }
    }

    /// The slots of a new object that differ from the entity's defaults, including those set by `awakeFromInsert`.
    private static func slotsSetSinceInsertion(of object: NSManagedObject) -> [Int] {
        let traits = object.layout.traits
        return object.layout.slots.indices.filter { slot in
            !traits.isTransient[slot] && !same(object.currentValue(slot), traits.startingRow.value(slot), object)
        }
    }

    /// The slots whose values differ from the snapshot's, including transient ones.
    static func differingSlots(of object: NSManagedObject) -> [Int] {
        guard object.hasOwnValues, let snapshot = object.snapshot else { return [] }
        return snapshot.values.indices.filter { !same(object.currentValue($0), snapshot.values[$0], object) }
    }

    /// The numbers of the to-many relationships that differ from the saved ones.
    static func changedToMany(of object: NSManagedObject) -> [Int] {
        var changed: [Int] = []
        object.forEachTouchedToMany { number, state in
            if state.hasChanges, !object.layout.toManyRelationships[number].isTransient { changed.append(number) }
        }
        return changed
    }

    static func differsFromSaved(_ object: NSManagedObject) -> Bool {
        !changedSlots(of: object).isEmpty || !changedToMany(of: object).isEmpty
    }

    /// Compares slot values; an object's temporary and permanent IDs are equal.
    static func same(_ left: SlotValue, _ right: SlotValue, _ object: NSManagedObject) -> Bool {
        if left == right { return true }
        guard case .reference(let leftID) = left, case .reference(let rightID) = right,
            leftID.isTemporaryID != rightID.isTemporaryID, let context = object.managedObjectContext
        else { return false }
        let known = context.knownObject(leftID)
        return known != nil && known === context.knownObject(rightID)
    }

    // MARK: As dictionaries

    static func sinceSave(of object: NSManagedObject) -> [String: Any] {
        guard object.hasChanges else { return [:] }
        var result: [String: Any] = [:]
        for slot in object.flags.contains(.inserted) ? slotsSetSinceInsertion(of: object) : changedSlots(of: object) {
            result[object.layout.slots[slot].name] = present(object.currentValue(slot), slot, object)
        }
        for number in changedToMany(of: object) {
            result[object.layout.toManyRelationships[number].name] = KeyValueAccess.collection(
                of: object, number: number)
        }
        return result
    }

    static func sinceEvent(of object: NSManagedObject) -> [String: Any] {
        var result: [String: Any] = [:]
        let before = valuesBeforeEvent(of: object)
        for slot in before.indices where !same(object.currentValue(slot), before[slot], object) {
            result[object.layout.slots[slot].name] = present(before[slot], slot, object)
        }
        for (number, state) in object.touchedToMany where state.hasEventChanges {
            // The previous members are known only when all members are loaded.
            let members = object.loadedToManyState(number).contentsBeforeEvent
            result[object.layout.toManyRelationships[number].name] =
                state.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
        }
        return result
    }

    /// Calls `body` with the number of each property that the current event changed, without creating values. A slot
    /// has its own number; to-many relationships are numbered after the slots.
    static func forEachSinceEvent(of object: NSManagedObject, _ body: (Int) -> Void) {
        if let (values, row) = startOfEvent(of: object) {
            let count = values.isEmpty ? row?.count ?? 0 : values.count
            for slot in 0..<count {
                let before = values.isEmpty ? row?.value(slot) ?? .null : values[slot]
                if !same(object.currentValue(slot), before, object) { body(slot) }
            }
        }
        object.forEachTouchedToMany { number, state in
            if state.hasEventChanges { body(object.layout.slots.count + number) }
        }
    }

    /// The names of properties by number: slots first, then to-many relationships.
    static func names(of numbers: [Int], in layout: EntityLayout) -> Set<String> {
        let count = layout.slots.count
        return Set(
            numbers.map { $0 < count ? layout.slots[$0].name : layout.toManyRelationships[$0 - count].name })
    }

    /// The values of all slots at the beginning of the event; empty if the event changed none of them.
    private static func valuesBeforeEvent(of object: NSManagedObject) -> [SlotValue] {
        guard let (values, row) = startOfEvent(of: object) else { return [] }
        return values.isEmpty ? row?.values.array ?? [] : values
    }

    /// The object's own values at the beginning of the event, and its row, which applies if it had no own values; `nil`
    /// if the event changed none.
    private static func startOfEvent(of object: NSManagedObject) -> (values: [SlotValue], row: RowSnapshot?)? {
        if let baseline = object.baseline { return (baseline.values, baseline.snapshot) }
        guard object.hasOwnValues, !object.flags.isDisjoint(with: [.pendingInserted, .newInEvent]) else {
            return nil
        }
        return ([], object.snapshot)
    }

    static func committed(of object: NSManagedObject, _ keys: [String]?) -> [String: Any] {
        guard !object.flags.contains(.inserted) else { return [:] }
        object.fireIfNeeded()
        var result: [String: Any] = [:]
        for slot in object.layout.slots.indices {
            let property = object.layout.slots[slot]
            guard !property.isTransient, keys?.contains(property.name) ?? true, let snapshot = object.snapshot else {
                continue
            }
            result[property.name] = present(snapshot.values[slot], slot, object)
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated() {
            guard !relationship.isTransient, keys?.contains(relationship.name) ?? true else { continue }
            if keys == nil, object.relationshipIsFault(relationship.name) { continue }
            let members = object.loadedToManyState(number).committedContents
            result[relationship.name] = relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
        }
        return result
    }

    /// Returns the values of a row as a dictionary of attributes and of to-one relationships' IDs; `NSNull` for `nil`.
    static func dictionary(of row: some Sequence<SlotValue>, _ layout: EntityLayout) -> [String: Any] {
        var result: [String: Any] = [:]
        for (slot, value) in row.enumerated() where !layout.slots[slot].isTransient {
            let type = layout.attribute(at: slot)?.attributeType ?? .objectIDAttributeType
            result[layout.slots[slot].name] = AttributeCoercion.value(value, type: type) ?? NSNull()
        }
        return result
    }

    private static func present(_ value: SlotValue, _ slot: Int, _ object: NSManagedObject) -> Any {
        if let attribute = object.layout.attribute(at: slot) {
            return AttributeCoercion.value(value, type: attribute.attributeType) ?? NSNull()
        }
        guard case .reference(let id) = value else { return NSNull() }
        return object.managedObjectContext?.ownedObject(id) ?? NSNull()
    }
}
