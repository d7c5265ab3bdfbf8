/// Drops unsaved references to objects that others deleted: they must not be written. The others' save has already
/// removed the saved references from the rows, and lists that were read drop the objects.
struct GoneDestinations {
    private let context: NSManagedObjectContext
    private let ids: Set<NSManagedObjectID>

    init(context: NSManagedObjectContext, ids: some Sequence<NSManagedObjectID>) {
        self.context = context
        self.ids = Set(ids.map(\.latest))
    }

    /// Cost: a pass over all relationships of new and changed objects; and over all lists that were read, if a deleted
    /// object may be in a list that its own row does not name.
    ///
    /// - Returns: the objects whose references were dropped.
    func forget() -> [NSManagedObject] {
        guard !ids.isEmpty else { return [] }
        let changed = (context.changes.inserted.all + context.changes.updated.all).filter(forget)
        let gone = Set(ids.compactMap(context.registry.registered).filter(Self.mayStandAnywhere))
        guard !gone.isEmpty else { return changed }
        return changed + context.registry.all.filter { forget(gone, inListsOf: $0) }
    }

    private func forget(in object: NSManagedObject) -> Bool {
        var found = false
        let values = object.values
        for slot in values.indices.dropFirst(object.layout.attributeCount) {
            // The reference may contain the object's temporary ID, while `ids` contains its permanent one.
            guard case .reference(let id) = values[slot], ids.contains(id.latest),
                object.snapshot?.values[slot] != values[slot]
            else { continue }
            InverseReconciler.dropReference(of: object, slot: slot)
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

    // MARK: Lists that were read

    /// True if the object may be in a list that its row does not reference.
    private static func mayStandAnywhere(_ object: NSManagedObject) -> Bool {
        object.snapshot == nil
            || object.layout.toManyRelationships.contains { $0.inverseRelationship?.isToMany ?? false }
    }

    private func forget(_ gone: Set<NSManagedObject>, inListsOf object: NSManagedObject) -> Bool {
        var found = false
        for (number, state) in object.touchedToMany where state.contents.contains(where: gone.contains) {
            guard object.layout.toManyRelationships[number].inverseRelationship != nil else { continue }
            for member in gone where state.contains(member) {
                object.changing(.toMany(number)) { state.discard(member) }
            }
            found = true
        }
        return found
    }
}
