import Foundation

/// What an object prints: class, entity, ID, and its values unless it is a fault.
enum ObjectDescription {
    static func text(of object: NSManagedObject) -> String {
        let id = object.objectID
        return "<\(type(of: object)): \(address(object))> (entity: \(object.entity.name ?? ""); "
            + "id: \(address(id)) <\(id.uriRepresentation().absoluteString)>; data: \(data(of: object)))"
    }

    private static func data(of object: NSManagedObject) -> String {
        if object.isFault { return "<fault>" }
        var lines: [String] = []
        for (slot, property) in object.layout.slots.enumerated() {
            lines.append("    \(property.name) = \(value(object.currentValue(slot), slot, object));")
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated() {
            lines.append("    \(relationship.name) = \(members(of: object, number));")
        }
        return "{\n" + lines.sorted().joined(separator: "\n") + "\n}"
    }

    private static func value(_ value: SlotValue, _ slot: Int, _ object: NSManagedObject) -> String {
        switch value {
        case .null: return "nil"
        case .reference(let id): return "\"\(id)\""
        case .text(let text): return "\"\(text)\""
        default:
            let type = object.layout.attribute(at: slot)?.attributeType ?? .undefinedAttributeType
            return "\"\(AttributeCoercion.value(value, type: type) ?? "nil")\""
        }
    }

    private static func members(of object: NSManagedObject, _ number: Int) -> String {
        guard !object.relationshipIsFault(object.layout.toManyRelationships[number].name) else {
            return "\"<relationship fault>\""
        }
        let ids = object.toManyState(number).contents.map { "\"\($0.objectID)\"" }
        return "(" + ids.joined(separator: ", ") + ")"
    }

    private static func address(_ object: AnyObject) -> String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
    }
}
