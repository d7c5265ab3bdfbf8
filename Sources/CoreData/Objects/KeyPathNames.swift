import Foundation

/// `\Team.wins` stands for the key `wins`, and `\Team.homeVenue?.name` for the key path `homeVenue.name`.
extension NSManagedObject: KeyPathNaming {
    static func key(of keyPath: AnyKeyPath) -> String? { KeyPathNames.key(of: keyPath, root: self) }
}

/// Finds the keys behind Swift's key paths of managed properties.
///
/// A key path to a computed property does not know its name. So it is tried out once, on an object of its class that is in no
/// context: the key is that of the one slot whose change is seen through the key path. A property that depends on several
/// slots, or on none, stands for no key.
enum KeyPathNames {
    private static let known = Known()

    /// What was found. Key paths are immutable, though they are not marked as sendable.
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
        let object = blank(root, entity)
        func value() -> PredicateValue { PredicateValue((object as Any)[keyPath: keyPath]) }
        let blankValue = value()
        var keys: [String] = []
        func note(_ key: String) { if !ValueOrder.areEqual(value(), blankValue) { keys.append(key) } }
        for slot in object.layout.slots.indices {
            let name = object.layout.slots[slot].name
            let before = object.currentValue(slot)
            if let attribute = object.layout.attribute(at: slot) {
                guard let samples = sampleValues(attribute.attributeType) else { continue }
                object.write(samples.other, slot: slot)
                note(name)
            } else if let destination = object.layout.entity.relationship(named: name)?.destinationEntity {
                let far = blank(ManagedObjectClasses.objectClass(of: destination), destination)
                object.write(.reference(far.objectID), slot: slot)
                object.remember(far, slot: slot)
                note(name)
                if keys.last != name { keys += behind(far, name, value) }
                object.remember(nil, slot: slot)
            }
            object.write(before, slot: slot)
        }
        return keys.count == 1 ? keys[0] : nil
    }

    /// The keys of the destination `far` of the relationship `name` that are seen through the key path.
    private static func behind(_ far: NSManagedObject, _ name: String, _ value: () -> PredicateValue) -> [String] {
        let blankValue = value()
        return far.layout.slots.indices.compactMap { slot in
            guard let attribute = far.layout.attribute(at: slot), let samples = sampleValues(attribute.attributeType)
            else {
                return nil
            }
            far.write(samples.other, slot: slot)
            defer { far.write(samples.blank, slot: slot) }
            return ValueOrder.areEqual(value(), blankValue) ? nil : "\(name).\(attribute.name)"
        }
    }

    /// An object in no context whose attributes all have a value: a getter may insist on one.
    private static func blank(_ type: NSManagedObject.Type, _ entity: NSEntityDescription) -> NSManagedObject {
        let object = type.init(entity: entity, insertInto: nil)
        for slot in object.layout.slots.indices {
            let samples = object.layout.attribute(at: slot).flatMap { sampleValues($0.attributeType) }
            object.write(samples?.blank ?? .null, slot: slot)
        }
        return object
    }

    /// Two values of an attribute's type; `nil` for types whose values nobody knows beforehand.
    private static func sampleValues(_ type: NSAttributeType) -> (blank: SlotValue, other: SlotValue)? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            return (.integer(0), .integer(1))
        case .doubleAttributeType, .floatAttributeType, .dateAttributeType: return (.real(0), .real(1))
        case .decimalAttributeType: return (.decimal(NSDecimalNumber(value: 0)), .decimal(NSDecimalNumber(value: 1)))
        case .stringAttributeType, .URIAttributeType: return (.text("a:"), .text("b:"))
        case .binaryDataAttributeType: return (.data(Data()), .data(Data([1])))
        case .UUIDAttributeType: return (.uuid(UUID(uuid: emptyUUID)), .uuid(UUID()))
        default: return nil
        }
    }

    private static let emptyUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
