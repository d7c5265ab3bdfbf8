import Foundation

/// Access to properties by name, for `value(forKey:)`, `setValue(_:forKey:)` and the primitive accessors.
enum KeyValueAccess {
    static func value(of object: NSManagedObject, for key: String) -> Any? {
        guard let place = object.withLayout({ $0.place(of: key) }) else { return stateValue(of: object, for: key) }
        if object.withTraits(\.checksQueue) { requireQueue(object, "reading", key) }
        object.noteRead(place)
        object.fireIfNeeded(for: place)
        switch place {
        case .attribute(let slot): return attributeValue(of: object, slot: slot)
        case .toOne(let slot): return object.toOneTarget(slot)
        case .toMany(let number): return collection(of: object, number: number)
        case .fetched(let number): return object.fetchedObjects(number)
        }
    }

    @inline(never)
    private static func requireQueue(_ object: NSManagedObject, _ access: String, _ key: String) {
        object.managedObjectContext?.requireQueue("\(access) '\(key)' of '\(object.objectID)'")
    }

    // SAFETY: the object retains its row, and changes only on its queue, where this runs.
    static func attributeValue(of object: NSManagedObject, slot: Int) -> Any? {
        let type = object.withLayout { $0.attributeTypes[slot] }
        // Most values are numbers of unchanged objects.
        if let number = object.unchangedRow?.with({ $0.integer(slot) }) {
            return AttributeCoercion.number(number, type: type)
        }
        return AttributeCoercion.value(object.currentValue(slot), type: type)
    }

    /// The current destinations of a to-many relationship.
    static func collection(of object: NSManagedObject, number: Int) -> NSObject {
        let members = object.toManyTargets(number)
        return object.layout.toManyRelationships[number].isOrdered
            ? NSOrderedSet(array: members) : NSSet(array: members)
    }

    /// The values that Apple's objects have for keys outside the entity.
    private static func stateValue(of object: NSManagedObject, for key: String) -> Any? {
        switch key {
        case "self", "SELF": object
        case "objectID": object.objectID
        case "entity": object.entity
        case "isDeleted": NumberCoercion.boolean(object.isDeleted)
        case "isInserted": NumberCoercion.boolean(object.isInserted)
        case "isUpdated": NumberCoercion.boolean(object.isUpdated)
        case "isFault": NumberCoercion.boolean(object.isFault)
        case "hasChanges": NumberCoercion.boolean(object.hasChanges)
        case "faultingState": NumberCoercion.number(Int64(object.faultingState))
        case "hasPersistentChangedValues": NumberCoercion.boolean(object.hasPersistentChangedValues)
        case "managedObjectContext": object.managedObjectContext
        case "description": object.description
        default: uncapitalized(key, of: object).map { value(of: object, for: $0) } ?? object.value(forUndefinedKey: key)
        }
    }

    /// Returns `date` for `Date`, like key-value coding; `nil` if there is no such property.
    private static func uncapitalized(_ key: String, of object: NSManagedObject) -> String? {
        guard let first = key.first, first.isUppercase else { return nil }
        let name = first.lowercased() + key.dropFirst()
        return object.withLayout({ $0.place(of: name) }) == nil ? nil : name
    }

    // MARK: Setting

    static func set(_ value: Any?, of object: NSManagedObject, for key: String) {
        if object.withTraits(\.checksQueue) { requireQueue(object, "setting", key) }
        switch object.withLayout({ $0.place(of: key) }) {
        case .attribute(let slot): object.setAttribute(slotValue(value, of: object, slot: slot), slot: slot)
        case .toOne(let slot): InverseUpkeep.set(destination(value, of: object, key), of: object, slot: slot)
        case .toMany(let number):
            InverseUpkeep.replace(destinations(value, of: object, key), of: object, number: number)
        case .fetched: preconditionFailure("The fetched property '\(key)' of '\(entityName(object))' cannot be set.")
        case nil:
            if let name = uncapitalized(key, of: object) { return set(value, of: object, for: name) }
            object.setValue(value, forUndefinedKey: key)
        }
    }

    static func set(_ value: Any?, of object: NSManagedObject, at keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return object.setValue(value, forKey: keyPath) }
        let key = String(keyPath[..<dot])
        let rest = String(keyPath[keyPath.index(after: dot)...])
        if let composite = object.entity.attributesByName[key] as? NSCompositeAttributeDescription {
            let whole = object.value(forKey: key) as? [String: Any] ?? [:]
            let path = rest.split(separator: ".").map(String.init)
            return object.setValue(CompositeValue.setting(value, at: path[...], of: whole, composite), forKey: key)
        }
        set(value, ofHolder: object.value(forKey: key), at: rest)
    }

    /// Sets the property of an object, or of each object in a collection.
    private static func set(_ value: Any?, ofHolder holder: Any?, at keyPath: String) {
        switch holder {
        case let object as NSManagedObject: object.setValue(value, forKeyPath: keyPath)
        case let holder?:
            for member in KeyPathReader.members(of: holder) ?? [] { set(value, ofHolder: member, at: keyPath) }
        case nil: break
        }
    }

    // MARK: Primitive access

    static func primitiveValue(of object: NSManagedObject, for key: String) -> Any? {
        switch object.layout.place(of: key) {
        case .attribute(let slot): return attributeValue(of: object, slot: slot)
        case .toOne(let slot): return object.isFault ? nil : object.toOneTarget(slot)
        case .toMany(let number): return collection(of: object, number: number)
        case .fetched(let number): return object.fetchedObjects(number)
        case nil: preconditionFailure(undefinedKeyMessage(object, key))
        }
    }

    static func setPrimitive(_ value: Any?, of object: NSManagedObject, for key: String) {
        object.fireIfNeeded()
        switch object.layout.place(of: key) {
        case .attribute(let slot): object.write(slotValue(value, of: object, slot: slot), slot: slot)
        case .toOne(let slot):
            let target = destination(value, of: object, key)
            object.write(target.map { .reference($0.objectID) } ?? .null, slot: slot)
            object.remember(target, slot: slot)
        case .toMany(let number):
            let wanted = destinations(value, of: object, key)
            let state = object.loadedToManyState(number)
            let kept = Set(wanted)
            for member in state.contents where !kept.contains(member) { state.remove(member) }
            for member in wanted { state.insert(member) }
            if state.isOrdered { state.reorder(wanted) }
        case .fetched: preconditionFailure("The fetched property '\(key)' of '\(entityName(object))' cannot be set.")
        case nil: preconditionFailure(undefinedKeyMessage(object, key))
        }
        if object.flags.contains(.awakeningFromInsert) { adoptStartingValue(of: object, key) }
    }

    /// Makes a value that `awakeFromInsert` sets without hooks an initial value of the new object.
    private static func adoptStartingValue(of object: NSManagedObject, _ key: String) {
        guard case .attribute(let slot) = object.layout.place(of: key), let snapshot = object.snapshot else { return }
        var starting = snapshot.values.array
        starting[slot] = object.currentValue(slot)
        object.snapshot = .make(starting, version: snapshot.version)
    }

    // MARK: Mutable collections

    static func mutableSet(of object: NSManagedObject, for key: String) -> NSMutableSet {
        requireQueue(object, "changing", key)
        guard case .toMany(let number) = object.layout.place(of: key),
            !object.layout.toManyRelationships[number].isOrdered
        else { preconditionFailure("'\(entityName(object))' has no unordered to-many relationship named '\(key)'.") }
        return ManagedMutableSet.make(object, number)
    }

    static func mutableOrderedSet(of object: NSManagedObject, for key: String) -> NSMutableOrderedSet {
        requireQueue(object, "changing", key)
        guard case .toMany(let number) = object.layout.place(of: key),
            object.layout.toManyRelationships[number].isOrdered
        else { preconditionFailure("'\(entityName(object))' has no ordered relationship named '\(key)'.") }
        return ManagedMutableOrderedSet.make(object, number)
    }

    // MARK: Checks of values

    private static func slotValue(_ value: Any?, of object: NSManagedObject, slot: Int) -> SlotValue {
        guard let attribute = object.layout.attribute(at: slot) else { return .null }
        if let composite = attribute as? NSCompositeAttributeDescription {
            return CompositeValue.slotValue(value, composite)
        }
        if let held = AttributeCoercion.unvalidatedSlotValue(value, type: attribute.attributeType) { return held }
        preconditionFailure(unacceptableMessage(attribute, value))
    }

    private static func destination(_ value: Any?, of object: NSManagedObject, _ key: String) -> NSManagedObject? {
        guard let value, !(value is NSNull) else { return nil }
        guard let target = value as? NSManagedObject, fits(target, object, key) else {
            preconditionFailure(unacceptableMessage(object, key, value))
        }
        return target
    }

    /// Returns the members of any collection of objects, in its order.
    static func destinations(_ value: Any?, of object: NSManagedObject, _ key: String) -> [NSManagedObject] {
        let members: [Any]
        switch value {
        case nil, is NSNull: members = []
        case let set as NSSet: members = set.allObjects
        case let ordered as NSOrderedSet: members = ordered.array
        case let list as [Any]: members = list
        case let set as Set<AnyHashable>: members = set.map(\.base)
        default: preconditionFailure(unacceptableMessage(object, key, value))
        }
        return members.map { member in
            guard let target = member as? NSManagedObject, fits(target, object, key) else {
                preconditionFailure(unacceptableMessage(object, key, member))
            }
            return target
        }
    }

    private static func fits(_ target: NSManagedObject, _ object: NSManagedObject, _ key: String) -> Bool {
        guard let destination = object.entity.relationshipsByName[key]?.destinationEntity else { return true }
        return target.entity.isKindOf(entity: destination)
    }

    // MARK: Messages

    static func undefinedKeyMessage(_ object: NSManagedObject, _ key: String) -> String {
        "The entity '\(entityName(object))' is not key value coding-compliant for the key \"\(key)\"."
    }

    static func unacceptableMessage(_ attribute: NSAttributeDescription, _ value: Any?) -> String {
        let given = value.map { "\(type(of: $0))" } ?? "nil"
        return "Unacceptable type of value for attribute: property = \"\(attribute.name)\"; desired type = "
            + "\(attribute.attributeValueClassName ?? "any"); given type = \(given); "
            + "value = \(value.map { "\($0)" } ?? "nil")."
    }

    private static func unacceptableMessage(_ object: NSManagedObject, _ key: String, _ value: Any?) -> String {
        let relationship = object.entity.relationshipsByName[key]
        return "Unacceptable type of value for \(relationship?.isToMany == true ? "to-many" : "to-one") relationship: "
            + "property = \"\(key)\"; desired type = \(relationship?.destinationEntity?.name ?? "an object"); "
            + "given value = \(value.map { "\($0)" } ?? "nil")."
    }

    private static func entityName(_ object: NSManagedObject) -> String { object.entity.name ?? "" }
}
