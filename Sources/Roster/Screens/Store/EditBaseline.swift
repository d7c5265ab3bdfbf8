import CoreData
import Foundation

/// The values in the store when the user began to change a record.
///
/// Changes of other processes are merged into the context as they arrive; the user's changes remain. The baseline keeps
/// the values that the user saw: a save can then detect that another process changed the same property.
struct EditBaseline {
    private var values: [ObjectIdentifier: (object: NSManagedObject, base: [String: Any], mine: [String: Any])] = [:]

    /// Values written by saves of edits that may still be undone.
    private var saved: [ObjectIdentifier: (object: NSManagedObject, mine: [String: Any])] = [:]

    /// Records the properties that changed since the last call. Call after every edit.
    ///
    /// - Parameters:
    ///   - objects: the changed objects, if known; `nil` examines all changed objects.
    ///   - seen: the values that the user saw, if that was before the edit: others may have changed them since.
    mutating func note(
        _ context: NSManagedObjectContext, _ objects: [NSManagedObject]? = nil, seen: some Sequence<SeenValues> = []
    ) {
        let seen = Dictionary(seen.map { (ObjectIdentifier($0.object), $0.values) }) { first, _ in first }
        note(context, objects, seen, isStep: false)
    }

    /// - Parameter isStep: true for undo and redo, in which an undone edit keeps its base values.
    private mutating func note(
        _ context: NSManagedObjectContext, _ objects: [NSManagedObject]?, _ seen: [ObjectIdentifier: [String: Any]],
        isStep: Bool
    ) {
        for object in objects ?? Array(context.updatedObjects) where object.isUpdated && !object.isDeleted {
            let id = ObjectIdentifier(object)
            var base = values[id]?.base ?? [:]
            let mine = object.changedValues()
            guard !mine.isEmpty else {
                // The edit was undone. Its base values are kept for a redo.
                values[id]?.mine = [:]
                continue
            }
            let known = values[id]?.mine ?? [:]
            let new = mine.keys.filter { base[$0] == nil || (!isStep && known[$0] == nil) }
            let committed = object.committedValues(forKeys: Array(new))
            for key in new { base[key] = seen[id]?[key] ?? committed[key] ?? NSNull() }
            values[id] = (object, base, mine)
        }
    }

    /// Removes all edits, after the changes were discarded.
    mutating func removeAll() { values = [:] }

    /// Keeps only the written values of saved edits, in case they are undone.
    ///
    /// - Parameter step: called after each edit with the number of completed edits and of all edits.
    mutating func wasSaved(_ step: (_ done: Int, _ count: Int) -> Void = { _, _ in }) {
        var done = 0
        for (id, entry) in values {
            saved[id, default: (entry.object, [:])].mine.merge(entry.mine) { $1 }
            done += 1
            step(done, values.count)
        }
        values = [:]
    }

    /// Updates the baseline after a step of undo or redo.
    ///
    /// If an unsaved edit is undone, properties that others changed get the others' values. Undoing a saved edit may
    /// replace only the values it wrote: if others changed them later, that is a conflict.
    ///
    /// - Parameter objects: the changed objects, if known; `nil` examines all edits.
    mutating func noteStep(_ context: NSManagedObjectContext, _ objects: [NSManagedObject]? = nil) {
        let edits = objects?.compactMap { values[ObjectIdentifier($0)] } ?? Array(values.values)
        for (object, base, _) in edits where object.isUpdated && !object.isDeleted {
            let committed = object.committedValues(forKeys: Array(base.keys))
            for (key, value) in object.changedValues() {
                guard let found = base[key], object.entity.attributesByName[key] != nil, Self.isEqual(value, found),
                    !Self.isEqual(committed[key], found)
                else { continue }
                object.setValue(committed[key] is NSNull ? nil : committed[key], forKey: key)
            }
        }
        context.processPendingChanges()
        let written = objects?.compactMap { saved[ObjectIdentifier($0)] } ?? Array(saved.values)
        let seen = Dictionary(written.map { (ObjectIdentifier($0.object), $0.mine) }) { first, _ in first }
        note(context, objects, seen, isStep: true)
    }

    /// Removes and returns the user's edits of records that others deleted.
    mutating func takeLostEdits(in session: StoreSession) -> [LostEdit] {
        let context = session.context
        // Before the event is processed, `deletedObjects` also contains objects that others deleted.
        context.processPendingChanges()
        let deletedHere = context.deletedObjects
        let gone = values.values.filter { $0.object.isDeleted && !deletedHere.contains($0.object) }
        for (object, _, _) in gone { values[ObjectIdentifier(object)] = nil }
        // Records that the user deleted after the edit are not lost.
        return gone.filter { !session.wasDeletedHere($0.object) }
            .map { LostEdit(object: $0.object, mine: $0.mine) }.filter(\.isOfUser)
    }

    /// Removes and returns the to-one relationships that the user set to records which others deleted since. Their
    /// value is now nil, which the user did not choose.
    mutating func takeLostTargets(in context: NSManagedObjectContext) -> [LostTarget] {
        let deletedHere = context.deletedObjects
        var lost: [LostTarget] = []
        for (id, entry) in values where !entry.object.isDeleted && entry.object.managedObjectContext != nil {
            for (key, value) in entry.mine {
                guard let target = value as? NSManagedObject, !deletedHere.contains(target),
                    target.isDeleted || target.managedObjectContext == nil, entry.object.value(forKey: key) == nil
                else { continue }
                values[id]?.mine[key] = nil
                lost.append(LostTarget(object: entry.object, key: key, target: target))
            }
        }
        return lost
    }

    /// True if the user has not changed anything since the last save.
    var isEmpty: Bool { values.isEmpty }

    /// Number of changed records, including those whose changes were undone.
    var count: Int { values.count }

    /// Returns the properties that the user and another process changed to different values.
    ///
    /// - Parameter step: called for each record with the number of examined records and of all records.
    func conflicts(_ step: (_ done: Int, _ count: Int) throws -> Void = { _, _ in }) rethrows -> [RecordConflict] {
        var done = 0
        return try values.values.compactMap { entry -> (name: String, conflict: RecordConflict)? in
            done += 1
            try step(done, values.count)
            return conflict(of: entry.object).map { (RecordName.text(entry.object), $0) }
        }
        .sorted { $0.name < $1.name }.map(\.conflict)
    }

    /// Returns the conflict of one record; `nil` if no field is contested.
    func conflict(of object: NSManagedObject) -> RecordConflict? {
        guard let base = values[ObjectIdentifier(object)]?.base, object.isUpdated, !object.isDeleted,
            object.managedObjectContext != nil
        else { return nil }
        let mine = object.changedValues()
        let theirs = object.committedValues(forKeys: Array(mine.keys))
        let fields = mine.keys.sorted().compactMap { key -> RecordConflict.Field? in
            guard let old = base[key], let property = object.entity.propertiesByName[key] else { return nil }
            let field = RecordConflict.Field(property: property, base: old, mine: mine[key], theirs: theirs[key])
            return field.isContested ? field : nil
        }
        return fields.isEmpty ? nil : RecordConflict(object: object, fields: fields)
    }

    fileprivate nonisolated static func isEqual(_ left: Any?, _ right: Any?) -> Bool {
        let left = left is NSNull ? nil : left
        let right = right is NSNull ? nil : right
        guard let left, let right else { return left == nil && right == nil }
        if let left = left as? NSObject, let right = right as? NSObject { return left.isEqual(right) }
        if let left = left as? AnyHashable, let right = right as? AnyHashable { return left == right }
        return false
    }
}

/// The values of a record when the user began to type.
struct SeenValues {
    let object: NSManagedObject
    /// Values of attributes and to-one relationships; `NSNull` for nil.
    let values: [String: Any]

    init(object: NSManagedObject, values: [String: Any]) { (self.object, self.values) = (object, values) }

    init(of object: NSManagedObject) {
        self.object = object
        let attributes = object.entity.attributesByName.values.filter { !$0.isTransient }.map(\.name)
        // Without a context, a record does not have relationships yet.
        let relationships =
            object.managedObjectContext == nil
            ? [] : object.entity.relationshipsByName.values.filter { !$0.isToMany && !$0.isTransient }.map(\.name)
        values = Dictionary(
            uniqueKeysWithValues: (attributes + relationships).map { ($0, object.value(forKey: $0) ?? NSNull()) })
    }

    /// Reads only one attribute.
    init(of object: NSManagedObject, attribute: String) {
        self.object = object
        values = [attribute: object.value(forKey: attribute) ?? NSNull()]
    }

    /// True if the record was deleted.
    var isGone: Bool { object.isDeleted || object.managedObjectContext == nil }
}

/// A record that the user and another process changed.
nonisolated struct RecordConflict {
    struct Field {
        let property: NSPropertyDescription
        /// The value that the user saw when the edit began; `nil` or `NSNull` for no value.
        var base: Any?
        let mine: Any?
        let theirs: Any?

        /// True if both changed the field to different values. To-many relationships are merged and never contested.
        var isContested: Bool {
            // Conflicts from a save contain object IDs instead of records.
            func plain(_ value: Any?) -> Any? { (value as? NSManagedObject)?.objectID ?? value }
            return (property as? NSRelationshipDescription)?.isToMany != true
                && !EditBaseline.isEqual(plain(base), plain(theirs))
                && !EditBaseline.isEqual(plain(mine), plain(theirs))
        }
    }

    let object: NSManagedObject
    let fields: [Field]

    /// The conflict with only the contested fields.
    var contested: RecordConflict { RecordConflict(object: object, fields: fields.filter(\.isContested)) }
}

nonisolated extension RecordConflict {
    /// Creates the conflict of a save, with the fields that the user changed.
    init(of conflict: NSMergeConflict) {
        let object = conflict.sourceObject
        let fields = object.changedValues().sorted { $0.key < $1.key }.compactMap { key, mine in
            object.entity.propertiesByName[key].map {
                Field(
                    property: $0, base: conflict.objectSnapshot?[key], mine: mine,
                    theirs: conflict.persistedSnapshot?[key])
            }
        }
        self.init(object: object, fields: fields)
    }
}

/// A relationship that the user set to a record which others deleted since.
struct LostTarget {
    let object: NSManagedObject
    let key: String
    let target: NSManagedObject

    /// Sets the relationship to the value in the store.
    func restore() {
        let before = object.committedValues(forKeys: [key])[key] as? NSManagedObject
        object.setValue(before.flatMap { $0.isDeleted ? nil : $0 }, forKey: key)
    }
}

/// A record with unsaved edits that others deleted.
struct LostEdit {
    let object: NSManagedObject
    /// The user's values by property; `NSNull` for nil.
    let mine: [String: Any]
    /// The previous values, if the record itself may not know them any more.
    var others: [String: Any] = [:]

    /// True if the record itself was edited, not only records that refer to it.
    var isOfUser: Bool {
        mine.keys.contains { key in
            guard let relationship = object.entity.relationshipsByName[key], relationship.isToMany else { return true }
            return relationship.inverseRelationship?.isToMany ?? true
        }
    }

    /// The last name of the record.
    var name: String {
        let label = EntityDisplay.label(of: object.entity).flatMap { others[$0.name] as? String }
        return label.flatMap { $0.isEmpty ? nil : $0 } ?? RecordName.lastKnown(object)
    }

    /// The user's values as text.
    var fields: String {
        let fields = mine.keys.sorted().compactMap { key -> String? in
            guard let property = object.entity.propertiesByName[key] else { return nil }
            return "\(PropertyTitle.title(key)): \(ValueDisplay.text(mine[key], of: property))"
        }
        return fields.joined(separator: ", ")
    }

    /// Creates a new record with the last values and the user's edits. It gets a new ID.
    @discardableResult
    func recreate(in context: NSManagedObjectContext) -> NSManagedObject {
        let new = NSManagedObject(entity: object.entity, insertInto: context)
        for property in object.entity.properties where !property.isTransient {
            let known = mine[property.name] ?? others[property.name]
            let value = known ?? (object.isFault ? nil : object.value(forKey: property.name))
            guard let value, !(value is NSNull) else { continue }
            if let relationship = property as? NSRelationshipDescription {
                take(ValueDisplay.destinations(value), as: relationship, into: new)
            } else if property is NSAttributeDescription {
                new.setValue(value, forKey: property.name)
            }
        }
        return new
    }

    /// Titles of a recreated record's empty relationships. Their destinations may have been deleted too.
    static func emptyRelationships(of object: NSManagedObject) -> String {
        let names = object.entity.properties.compactMap { $0 as? NSRelationshipDescription }
            .filter { !$0.isTransient && ValueDisplay.destinations(object.value(forKey: $0.name)).isEmpty }
            .map { PropertyTitle.title($0.name) }
        return names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    }

    private func take(
        _ others: [NSManagedObject], as relationship: NSRelationshipDescription, into new: NSManagedObject
    ) {
        let living = others.filter { !$0.isDeleted && $0.managedObjectContext != nil }
        guard !living.isEmpty else { return }
        if !relationship.isToMany {
            new.setValue(living.first, forKey: relationship.name)
        } else if relationship.isOrdered {
            new.setValue(NSOrderedSet(array: living), forKey: relationship.name)
        } else {
            new.setValue(Set(living) as NSSet, forKey: relationship.name)
        }
    }
}
