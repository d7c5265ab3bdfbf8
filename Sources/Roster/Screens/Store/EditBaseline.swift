import CoreData
import Foundation

/// What stood in the store when the user began to change a record.
///
/// Changes of other processes are merged into the context as they come; what the user changed stays. This remembers the
/// values the user saw, so that a save can tell when another process changed the same property meanwhile.
struct EditBaseline {
    private var values: [ObjectIdentifier: (object: NSManagedObject, base: [String: Any], mine: [String: Any])] = [:]

    /// What was written by saves of edits that may still be undone.
    private var saved: [ObjectIdentifier: (object: NSManagedObject, mine: [String: Any])] = [:]

    /// Takes up the properties that were changed since the last call. Call after every edit.
    ///
    /// - Parameters:
    ///   - objects: what the edit changed, where that is known; else all that is changed is looked at.
    ///   - seen: what the user saw of records, where that was before the edit: others may have changed them since.
    mutating func note(
        _ context: NSManagedObjectContext, _ objects: [NSManagedObject]? = nil, seen: some Sequence<SeenValues> = []
    ) {
        let seen = Dictionary(seen.map { (ObjectIdentifier($0.object), $0.values) }) { first, _ in first }
        note(context, objects, seen, isStep: false)
    }

    /// - Parameter isStep: whether it was undone or done again: then an edit that was taken back keeps what it had found.
    private mutating func note(
        _ context: NSManagedObjectContext, _ objects: [NSManagedObject]?, _ seen: [ObjectIdentifier: [String: Any]],
        isStep: Bool
    ) {
        for object in objects ?? Array(context.updatedObjects) where object.isUpdated && !object.isDeleted {
            let id = ObjectIdentifier(object)
            var base = values[id]?.base ?? [:]
            let mine = object.changedValues()
            guard !mine.isEmpty else {
                // It was taken back. What it found is kept, for the case that it is made again.
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

    /// Forgets everything: the changes were thrown away.
    mutating func removeAll() { values = [:] }

    /// Keeps of changes that were saved only what was written, for the case that they are undone.
    ///
    /// - Parameter step: called for each of them, with how many are done and how many there are.
    mutating func wasSaved(_ step: (_ done: Int, _ count: Int) -> Void = { _, _ in }) {
        var done = 0
        for (id, entry) in values {
            saved[id, default: (entry.object, [:])].mine.merge(entry.mine) { $1 }
            done += 1
            step(done, values.count)
        }
        values = [:]
    }

    /// Takes up what a step of undo or redo changed, after it.
    ///
    /// What an edit that was not saved had found comes back as others have written it meanwhile. And the undoing of a
    /// saved edit takes the place of what that wrote, and of nothing that others wrote later: they are asked about.
    ///
    /// - Parameter objects: what the step changed, where that is known; else all edits are looked at.
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

    /// The records with edits of the user that others deleted, with the values that the user gave them; each is told once.
    mutating func takeLostEdits(in session: StoreSession) -> [LostEdit] {
        let context = session.context
        // What others deleted counts as deleted until then.
        context.processPendingChanges()
        let deletedHere = context.deletedObjects
        let gone = values.values.filter { $0.object.isDeleted && !deletedHere.contains($0.object) }
        for (object, _, _) in gone { values[ObjectIdentifier(object)] = nil }
        // What the user deleted too, after the edit, is no loss.
        return gone.filter { !session.wasDeletedHere($0.object) }
            .map { LostEdit(object: $0.object, mine: $0.mine) }.filter(\.isOfUser)
    }

    /// The to-one relationships that the user set to records which others deleted since: they have no value then, which the
    /// user did not choose. Each is told once.
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

    /// Whether nothing that the user changed is waiting for a save.
    var isEmpty: Bool { values.isEmpty }

    /// How many records were changed, also those whose changes were taken back since.
    var count: Int { values.count }

    /// The properties that both the user and another process changed, to different values.
    ///
    /// - Parameter step: called for each record that is looked at, with how many are done and how many there are.
    func conflicts(_ step: (_ done: Int, _ count: Int) throws -> Void = { _, _ in }) rethrows -> [RecordConflict] {
        var done = 0
        return try values.values.compactMap { entry -> (name: String, conflict: RecordConflict)? in
            done += 1
            try step(done, values.count)
            return conflict(of: entry.object).map { (RecordName.text(entry.object), $0) }
        }
        .sorted { $0.name < $1.name }.map(\.conflict)
    }

    /// The same of one record; `nil` where there are none.
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

/// What a record had when the user began to type.
struct SeenValues {
    let object: NSManagedObject
    /// The values of attributes and to-one relationships; `NSNull` where none.
    let values: [String: Any]

    init(object: NSManagedObject, values: [String: Any]) { (self.object, self.values) = (object, values) }

    init(of object: NSManagedObject) {
        self.object = object
        let attributes = object.entity.attributesByName.values.filter { !$0.isTransient }.map(\.name)
        // A record that is in no context yet has no relationships.
        let relationships =
            object.managedObjectContext == nil
            ? [] : object.entity.relationshipsByName.values.filter { !$0.isToMany && !$0.isTransient }.map(\.name)
        values = Dictionary(
            uniqueKeysWithValues: (attributes + relationships).map { ($0, object.value(forKey: $0) ?? NSNull()) })
    }

    /// What it had in one attribute.
    init(of object: NSManagedObject, attribute: String) {
        self.object = object
        values = [attribute: object.value(forKey: attribute) ?? NSNull()]
    }

    /// Whether the record is no more.
    var isGone: Bool { object.isDeleted || object.managedObjectContext == nil }
}

/// A record that the user and another process changed.
nonisolated struct RecordConflict {
    struct Field {
        let property: NSPropertyDescription
        /// What the user saw when the edit began; `nil` or `NSNull` for no value.
        var base: Any?
        let mine: Any?
        let theirs: Any?

        /// Whether both changed it, to different values. Lists of related records are merged, and never contested.
        var isContested: Bool {
            // A conflict that a save met names records by their IDs.
            func plain(_ value: Any?) -> Any? { (value as? NSManagedObject)?.objectID ?? value }
            return (property as? NSRelationshipDescription)?.isToMany != true
                && !EditBaseline.isEqual(plain(base), plain(theirs))
                && !EditBaseline.isEqual(plain(mine), plain(theirs))
        }
    }

    let object: NSManagedObject
    let fields: [Field]

    /// The same with the fields alone that both changed to different values.
    var contested: RecordConflict { RecordConflict(object: object, fields: fields.filter(\.isContested)) }
}

nonisolated extension RecordConflict {
    /// The fields that the user changed, of a conflict that a save met.
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

    /// Gives the relationship what the store has.
    func restore() {
        let before = object.committedValues(forKeys: [key])[key] as? NSManagedObject
        object.setValue(before.flatMap { $0.isDeleted ? nil : $0 }, forKey: key)
    }
}

/// A record that others deleted while it had edits of the user that were not saved.
struct LostEdit {
    let object: NSManagedObject
    /// The values that the user gave it, by property; `NSNull` where none.
    let mine: [String: Any]
    /// What it had, where the record itself may not know that any more.
    var others: [String: Any] = [:]

    /// Whether it was edited itself, and not only the records that pointed at it.
    var isOfUser: Bool {
        mine.keys.contains { key in
            guard let relationship = object.entity.relationshipsByName[key], relationship.isToMany else { return true }
            return relationship.inverseRelationship?.isToMany ?? true
        }
    }

    /// What the record was called.
    var name: String {
        let label = EntityDisplay.label(of: object.entity).flatMap { others[$0.name] as? String }
        return label.flatMap { $0.isEmpty ? nil : $0 } ?? RecordName.lastKnown(object)
    }

    /// What the user typed, field by field.
    var fields: String {
        let fields = mine.keys.sorted().compactMap { key -> String? in
            guard let property = object.entity.propertiesByName[key] else { return nil }
            return "\(PropertyTitle.title(key)): \(ValueDisplay.text(mine[key], of: property))"
        }
        return fields.joined(separator: ", ")
    }

    /// Makes the record anew, with the values that it had and those of the user. It gets an ID of its own.
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

    /// The relationships that a record made anew does not have: what they led to may have gone with the one that was deleted.
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
