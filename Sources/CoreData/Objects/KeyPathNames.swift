import Foundation

/// `\Team.wins` stands for the key `wins`, and `\Team.homeVenue?.name` for the key path `homeVenue.name`.
extension NSManagedObject: KeyPathNaming {
    static func key(of keyPath: AnyKeyPath) -> String? { KeyPathNames.key(of: keyPath, root: self) }
}

/// Finds the keys behind Swift's key paths of managed properties.
///
/// A key path to a computed property does not know its name. So it is tried out once, on an object of its class that is in no
/// context, and objects behind its relationships: the key is that of the one property whose change is seen through the key path.
/// A property that depends on several, or on none, or makes another value of one, stands for no key.
enum KeyPathNames {
    private static let known = Known()

    /// What was found. Key paths are immutable, though they are not marked as sendable.
    // SAFETY: the lock guards all of it.
    private final class Known: @unchecked Sendable {
        private let lock = NSLock()
        private var keys: [AnyKeyPath: String?] = [:]

        subscript(keyPath: AnyKeyPath) -> String?? {
            get { lock.withLock { keys[keyPath] } }
            set { lock.withLock { keys[keyPath] = newValue } }
        }
    }

    /// `nil` if the class has no entity in the models in use, or the key path is of no modelled property.
    static func key(of keyPath: AnyKeyPath, root: NSManagedObject.Type) -> String? {
        if let found = known[keyPath] { return found }
        guard root != NSManagedObject.self, let entity = ManagedObjectClasses.knownEntity(of: root) else { return nil }
        let key = find(keyPath, root, entity)
        known[keyPath] = .some(key)
        return key
    }

    private static func find(
        _ keyPath: AnyKeyPath, _ root: NSManagedObject.Type, _ entity: NSEntityDescription
    ) -> String? {
        let object = blank(root, entity, depth: depth)
        let kind = Kind(type(of: keyPath).valueType)
        let keys = UnknownRawValues.noting {
            seen(in: object, depth: depth, kind) { PredicateValue((object as Any)[keyPath: keyPath]) }
        }
        return keys?.count == 1 ? keys?[0] : nil
    }

    /// What is to be known of a key path's values, which may be optional.
    private struct Kind {
        let isNumber: Bool
        let isBoolean: Bool
        /// Whether an attribute has their raw values.
        let isEnumeration: Bool

        init(_ type: Any.Type) {
            isNumber = type == Int.self || type == Int?.self
            isBoolean = type == Bool.self || type == Bool?.self
            isEnumeration =
                type is any RawRepresentable.Type
                || (type as? any OptionalValue.Type)?.wrappedType is any RawRepresentable.Type
        }
    }

    /// How many to-one relationships a key path may cross.
    private static let depth = 3

    /// The keys of `object` whose change is seen by `value`, each from the object on; `nil` where what is seen is not the value
    /// of the property, but made of it.
    private static func seen(
        in object: NSManagedObject, depth: Int, _ kind: Kind, by value: () -> PredicateValue
    ) -> [String]? {
        let blankValue = value()
        func changes() -> Bool { !ValueOrder.areEqual(value(), blankValue) }
        var keys: [String] = []
        for slot in object.layout.slots.indices {
            let name = object.layout.slots[slot].name
            if let attribute = object.layout.attribute(at: slot) {
                guard let samples = sampleValues(attribute.attributeType) else { continue }
                let before = object.currentValue(slot)
                object.write(samples.other, slot: slot)
                if changes() || kind.isEnumeration && UnknownRawValues.wereRead(of: object, name) { keys.append(name) }
                if changes(), !kind.isEnumeration, !isValue(of: attribute, samples, object, slot, kind, by: value) {
                    return nil
                }
                object.write(before, slot: slot)
            } else if let far = object.toOneTarget(slot) {
                guard let behind = seen(in: far, depth: depth - 1, kind, by: value) else { return nil }
                keys += behind.map { "\(name).\($0)" }
                guard behind.isEmpty else { continue }
                refer(object, slot, to: blank(type(of: far), far.entity, depth: depth - 1))
                if changes() { keys.append(name) }
                refer(object, slot, to: far)
            }
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated() {
            guard let entity = relationship.destinationEntity else { continue }
            let state = object.toManyState(number)
            let member = blank(entity, depth: 0)
            state.insert(member)
            if changes() { keys.append(kind.isNumber ? "\(relationship.name).@count" : relationship.name) }
            state.remove(member)
        }
        return keys
    }

    /// Whether what is seen is an attribute's value itself. The value of which computations make another one is tried last, since
    /// a getter may not bear it.
    private static func isValue(
        of attribute: NSAttributeDescription, _ samples: Samples, _ object: NSManagedObject, _ slot: Int, _ kind: Kind,
        by value: () -> PredicateValue
    ) -> Bool {
        guard isValue(value(), of: object, slot) else { return false }
        if kind.isBoolean {
            return [.booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType]
                .contains(attribute.attributeType)
        }
        object.write(samples.odd, slot: slot)
        return isValue(value(), of: object, slot)
    }

    /// Whether `value` is that of an attribute, as an object or as the number that a scalar accessor gives.
    private static func isValue(_ value: PredicateValue, of object: NSManagedObject, _ slot: Int) -> Bool {
        let name = object.layout.slots[slot].name
        return ValueOrder.areEqual(value, PredicateValue(object.value(forKey: name)))
            || ValueOrder.areEqual(value, PredicateValue(object.currentValue(slot), isDate: false))
    }

    private static func refer(_ object: NSManagedObject, _ slot: Int, to far: NSManagedObject) {
        object.write(.reference(far.objectID), slot: slot)
        object.remember(far, slot: slot)
    }

    /// The same for any entity; of an abstract one for one that descends from it.
    private static func blank(_ entity: NSEntityDescription, depth: Int) -> NSManagedObject {
        let concrete = entity.isAbstract ? entity.family.first { !$0.isAbstract } ?? entity : entity
        return blank(ManagedObjectClasses.objectClass(of: concrete), concrete, depth: depth)
    }

    /// An object in no context whose attributes and to-one relationships all have a value: a getter may insist on one.
    private static func blank(_ type: NSManagedObject.Type, _ entity: NSEntityDescription, depth: Int)
        -> NSManagedObject
    {
        let object = type.init(entity: entity, insertInto: nil)
        for slot in object.layout.slots.indices {
            if let attribute = object.layout.attribute(at: slot) {
                object.write(sampleValues(attribute.attributeType)?.blank ?? .null, slot: slot)
            } else if depth > 0,
                let destination = entity.relationship(named: object.layout.slots[slot].name)?.destinationEntity
            {
                refer(object, slot, to: blank(destination, depth: depth - 1))
            }
        }
        return object
    }

    /// Values of an attribute's type: that of a blank object, another one, and one of which many computations make another one.
    private typealias Samples = (blank: SlotValue, other: SlotValue, odd: SlotValue)

    /// `nil` for types whose values are not known beforehand.
    private static func sampleValues(_ type: NSAttributeType) -> Samples? {
        switch type {
        case .booleanAttributeType: return (.integer(0), .integer(1), .integer(1))
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return (.integer(0), .integer(1), .integer(3))
        case .doubleAttributeType, .floatAttributeType, .dateAttributeType: return (.real(0), .real(1), .real(-1.5))
        case .decimalAttributeType:
            let values = [0, 1, -1.5].map { SlotValue.decimal(NSDecimalNumber(value: $0)) }
            return (values[0], values[1], values[2])
        case .stringAttributeType: return (.text("a:"), .text("b:"), .text(" bB "))
        case .URIAttributeType: return (.text("a:"), .text("b:"), .text("b:"))
        case .binaryDataAttributeType: return (.data(Data()), .data(Data([1])), .data(Data([1, 2])))
        case .UUIDAttributeType:
            let other = UUID()
            return (.uuid(UUID(uuid: emptyUUID)), .uuid(other), .uuid(other))
        default: return nil
        }
    }

    private static let emptyUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
