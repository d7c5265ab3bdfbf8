import Foundation

/// The printed form of an object: class, entity, ID, and unless it is a fault its values, as in old property lists.
enum ObjectDescription {
    static func text(of object: NSManagedObject) -> String {
        "<\(type(of: object)): \(address(object))> (entity: \(object.entity.name ?? ""); id: \(text(of: object.objectID)); "
            + "data: \(data(of: object)))"
    }

    private static func data(of object: NSManagedObject) -> String {
        if object.isFault { return "<fault>" }
        var lines: [String] = []
        for (slot, property) in object.layout.slots.enumerated() {
            lines.append("    \(word(property.name)) = \(value(object.currentValue(slot), slot, object));")
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated() {
            lines.append("    \(word(relationship.name)) = \(members(of: object, number));")
        }
        return "{\n" + lines.sorted().joined(separator: "\n") + "\n}"
    }

    private static func value(_ value: SlotValue, _ slot: Int, _ object: NSManagedObject) -> String {
        switch value {
        case .null: return "nil"
        case .reference(let id):
            return word(text(of: object.managedObjectContext?.knownObject(id)?.objectID ?? id))
        case .integer(let number): return word("\(number)")
        // Foundation stops the program when it prints a date that is not finite.
        case .real(let number) where !number.isFinite: return word("\(number)")
        case .data(let data): return word(bytes(data))
        default:
            let type = object.layout.attribute(at: slot)?.attributeType ?? .undefinedAttributeType
            return word(AttributeCoercion.value(value, type: type).map { "\($0)" } ?? "nil")
        }
    }

    private static func members(of object: NSManagedObject, _ number: Int) -> String {
        let name = object.layout.toManyRelationships[number].name
        guard !object.relationshipIsFault(name) else {
            return "\"<relationship fault: \(address(object.toManyState(number))) '\(name)'>\""
        }
        let ids = object.toManyState(number).contents.map { "        \(word(text(of: $0.objectID)))" }
        return ids.isEmpty ? "    (\n    )" : "    (\n" + ids.joined(separator: ",\n") + "\n    )"
    }

    private static func text(of id: NSManagedObjectID) -> String {
        "\(address(id)) <\(id.uriRepresentation().absoluteString)>"
    }

    /// Returns plain words as they are, and other text in quotation marks.
    private static func word(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { ($0 | 32 >= 97 && $0 | 32 <= 122) || (48...57).contains($0) }
        if isPlain { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            + "\""
    }

    private static func bytes(_ data: Data) -> String {
        func hexadecimal(_ part: Data) -> String { part.map { String(format: "%02x", $0) }.joined() }
        let shown =
            data.count <= 24 ? hexadecimal(data) : "\(hexadecimal(data.prefix(16))) ... \(hexadecimal(data.suffix(8)))"
        return "{length = \(data.count), bytes = 0x\(shown)}"
    }

    // SAFETY: the address is printed, not dereferenced.
    private static func address(_ object: AnyObject) -> String {
        "0x" + String(UInt(bitPattern: Unretained(object).address), radix: 16)
    }
}
