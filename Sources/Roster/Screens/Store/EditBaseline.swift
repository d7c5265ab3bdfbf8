import CoreData
import Foundation

/// What stood in the store when the user began to change a record.
///
/// Changes of other processes are merged into the context as they come; what the user changed stays. This remembers the
/// values the user saw, so that a save can tell when somebody else changed the same property meanwhile.
struct EditBaseline {
    private var values: [ObjectIdentifier: (object: NSManagedObject, base: [String: Any])] = [:]

    /// Takes up the properties that were changed since the last call. Call after every edit.
    mutating func note(_ context: NSManagedObjectContext) {
        for object in context.updatedObjects {
            let id = ObjectIdentifier(object)
            var base = values[id]?.base ?? [:]
            let new = object.changedValues().keys.filter { base[$0] == nil }
            guard !new.isEmpty else { continue }
            let committed = object.committedValues(forKeys: Array(new))
            for key in new { base[key] = committed[key] ?? NSNull() }
            values[id] = (object, base)
        }
    }

    /// Forgets everything: the changes were saved or thrown away.
    mutating func removeAll() { values = [:] }

    /// The properties that both the user and somebody else changed, to different values.
    func conflicts() -> [RecordConflict] {
        values.values.compactMap { object, base in
            guard object.isUpdated, !object.isDeleted, object.managedObjectContext != nil else { return nil }
            let mine = object.changedValues()
            let theirs = object.committedValues(forKeys: Array(mine.keys))
            let fields = mine.keys.sorted().compactMap { key -> RecordConflict.Field? in
                guard let old = base[key], let property = object.entity.propertiesByName[key],
                    (property as? NSRelationshipDescription)?.isToMany != true,
                    !Self.isEqual(old, theirs[key]), !Self.isEqual(mine[key], theirs[key])
                else { return nil }
                return RecordConflict.Field(property: property, mine: mine[key], theirs: theirs[key])
            }
            return fields.isEmpty ? nil : RecordConflict(object: object, fields: fields)
        }.sorted { RecordName.text($0.object) < RecordName.text($1.object) }
    }

    private static func isEqual(_ left: Any?, _ right: Any?) -> Bool {
        let left = left is NSNull ? nil : left
        let right = right is NSNull ? nil : right
        guard let left, let right else { return left == nil && right == nil }
        if let left = left as? NSObject, let right = right as? NSObject { return left.isEqual(right) }
        if let left = left as? AnyHashable, let right = right as? AnyHashable { return left == right }
        return false
    }
}

/// A record that the user and somebody else changed.
struct RecordConflict {
    struct Field {
        let property: NSPropertyDescription
        let mine: Any?
        let theirs: Any?
    }

    let object: NSManagedObject
    let fields: [Field]
}
