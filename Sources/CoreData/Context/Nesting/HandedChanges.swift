/// The unsaved changes of a context as values, for its parent.
///
/// Created on the child's queue and applied on the parent's. A to-many relationship whose inverse is to-one is
/// described by the rows of its destinations, and only its order is stored here; any other by additions and removals.
struct HandedChanges {
    struct Object {
        let source: NSManagedObject
        let id: NSManagedObjectID
        /// The changed values, including transient ones; all values of a new object.
        var slots: [(slot: Int, value: SlotValue)] = []
        var lists: [List] = []
    }

    struct List {
        let number: Int
        let added: [NSManagedObjectID]
        let removed: [NSManagedObjectID]
        /// All members in order, if the relationship is ordered.
        let order: [NSManagedObjectID]?
    }

    private(set) var inserted: [Object] = []
    private(set) var updated: [Object] = []
    /// All deleted objects. Those whose rows no longer exist need no deletion.
    private(set) var deleted: [NSManagedObject] = []
    private(set) var locked: [NSManagedObjectID] = []

    /// Reads the missing rows of changed objects.
    init(of context: NSManagedObjectContext, locked: [NSManagedObject]) throws {
        let changes = context.changes
        try context.faults.fetchRows(of: changes.updated.all.filter { $0.snapshot == nil })
        inserted = changes.inserted.all.map { object in
            let values = object.currentValues
            return Object(
                source: object, id: object.objectID, slots: values.enumerated().map { ($0, $1) },
                lists: Self.lists(of: object))
        }
        updated = changes.updated.all.map { object in
            Object(source: object, id: object.objectID, slots: Self.changes(of: object), lists: Self.lists(of: object))
        }
        deleted = changes.deleted.all
        self.locked = locked.filter { $0.managedObjectContext === context }.map(\.objectID)
    }

    private static func changes(of object: NSManagedObject) -> [(slot: Int, value: SlotValue)] {
        guard object.hasOwnValues, let snapshot = object.snapshot else { return [] }
        return object.values.enumerated().compactMap { slot, value in
            ChangedValues.same(value, snapshot.values[slot], object) ? nil : (slot, value)
        }
    }

    private static func lists(of owner: NSManagedObject) -> [List] {
        owner.touchedToMany.compactMap { number, state in
            guard state.hasChanges else { return nil }
            let inverse = owner.layout.toManyRelationships[number].inverseRelationship
            let isToldByMembers = inverse.map { !$0.isToMany } ?? false
            guard !isToldByMembers || state.isOrdered else { return nil }
            return List(
                number: number, added: isToldByMembers ? [] : state.added.map(\.objectID),
                removed: isToldByMembers ? [] : state.removed.filter { !$0.isDeleted }.map(\.objectID),
                order: state.isOrdered ? owner.loadedToManyState(number).contents.map(\.objectID) : nil)
        }
    }
}
