// Checks of unreadable properties in a save. No given value is lost silently; nothing in the file is overwritten.
extension UnreadableProperties {
    /// Checks changes before anything is written. A new row may have the model's default value, which is not written.
    ///
    /// - Throws: 134020 for a value of such a property, and for a deleted row with an unreadable relationship.
    func check(_ changes: StoreChangeSet) throws {
        guard !isEmpty else { return }
        for row in changes.inserted {
            for slot in slots(of: row.id.entity) { try check(row.row.value(slot), slot, of: row.id.entity) }
        }
        for row in changes.updated {
            let layout = row.id.entity.layout
            for slot in row.changedSlots + row.orderedPositions.keys { try refuseSaving(layout.slots[slot]) }
            for number in row.changedToMany { try refuseSaving(layout.toManyRelationships[number]) }
        }
        for change in changes.toMany { try refuseSaving(change.relationship) }
        for row in changes.deleted {
            guard let relationship = relationship(of: row.id.entity) else { continue }
            try refuse(
                "delete '\(row.id)' with", relationship,
                "it is unknown which related objects to delete, and nothing was saved")
        }
    }

    /// Checks that a property that a batch sets is readable.
    ///
    /// - Throws: 134020 for an unreadable property that a batch sets.
    func refuseSaving(_ property: NSPropertyDescription) throws { try refuse("save", property, "nothing was saved") }

    /// Checks that new rows set no value of an unreadable property.
    ///
    /// - Throws: 134020 for the values of new rows, one for each slot of the entity.
    func check(_ rows: NewRows, of entity: NSEntityDescription) throws {
        guard !isEmpty else { return }
        for slot in slots(of: entity) {
            for row in 0..<rows.count { try check(rows.values[row * rows.width + slot], slot, of: entity) }
        }
    }

    private func check(_ value: SlotValue, _ slot: Int, of entity: NSEntityDescription) throws {
        if value.isNull || value == entity.layout.traits.startingRow.values[slot] { return }
        try refuseSaving(entity.layout.slots[slot])
    }

    /// Returns the new rows that differ in the store, because the model's default values were not written.
    func stored(_ rows: [IdentifiedRow]) -> [NSManagedObjectID: RowSnapshot] {
        guard !isEmpty else { return [:] }
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        for row in rows {
            let lost = slots(of: row.id.entity).filter { !row.row.value($0).isNull }
            guard !lost.isEmpty else { continue }
            var values = row.row.array
            for slot in lost { values[slot] = .null }
            result[row.id] = .make(values, version: row.row.version)
        }
        return result
    }

    private func slots(of entity: NSEntityDescription) -> [Int] {
        entity.layout.slots.indices.filter { contains(entity.layout.slots[$0]) }
    }

    /// The first unreadable relationship of an entity by name. Its delete rule cannot be applied.
    func relationship(of entity: NSEntityDescription) -> NSRelationshipDescription? {
        entity.relationshipsByName.values.sorted { $0.name < $1.name }.first(where: contains)
    }
}
