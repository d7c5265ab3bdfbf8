/// Unsaved references to objects that others deleted lead nowhere any more: a save must not write them. What was saved of
/// them, the others' save has taken out of the rows.
struct GoneDestinations {
    let context: NSManagedObjectContext
    let ids: Set<NSManagedObjectID>

    /// Cost: a look at all relationships of new and changed objects.
    ///
    /// - Returns: the objects whose references were dropped.
    func forget() -> [NSManagedObject] {
        guard !ids.isEmpty else { return [] }
        return (context.changes.inserted.all + context.changes.updated.all).filter(forget)
    }

    private func forget(in object: NSManagedObject) -> Bool {
        var found = false
        for slot in object.values.indices.dropFirst(object.layout.attributeCount) {
            guard case .reference(let id) = object.values[slot], ids.contains(id),
                object.snapshot?.values[slot] != object.values[slot]
            else { continue }
            FarEnds.dropReference(of: object, slot: slot)
            found = true
        }
        for (number, state) in object.touchedToMany {
            for member in state.added.all + state.removed.all where ids.contains(member.objectID) {
                object.changing(.toMany(number)) { state.discard(member) }
                found = true
            }
        }
        return found
    }
}
