import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Readable values for the screen.
nonisolated enum ValueDisplay {
    /// The text for nil, different from an empty text.
    static let nothing = "–"

    /// The value of a property in one line. To-one relationships are shown by name, to-many relationships by count.
    static func text(_ value: Any?, of property: NSPropertyDescription) -> String {
        guard let value, !(value is NSNull) else { return nothing }
        switch property {
        case let relationship as NSRelationshipDescription:
            if relationship.isToMany { return "\(count(of: value))" }
            return (value as? NSManagedObject).map { RecordName.text($0) } ?? nothing
        case let attribute as NSAttributeDescription: return text(value, of: attribute)
        default: return String(describing: value)
        }
    }

    private static func text(_ value: Any, of attribute: NSAttributeDescription) -> String {
        switch attribute.attributeType {
        case .booleanAttributeType: (value as? Bool) == true ? "✓" : "·"
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .stringAttributeType:
            String(describing: value)
        case .dateAttributeType: (value as? Date).map { DateDisplay.short($0) } ?? String(describing: value)
        default: ValueText.shown(value, of: attribute)
        }
    }

    /// The records in a relationship's value, in its order, or by name if it is unordered.
    static func destinations(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let object as NSManagedObject: return [object]
        case let set as NSOrderedSet: return set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: return sorted(set.allObjects.compactMap { $0 as? NSManagedObject })
        case let set as Set<NSManagedObject>: return sorted(Array(set))
        default: return []
        }
    }

    private static func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        objects.map { (RecordName.text($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The number of records in a to-many relationship's value.
    static func count(of value: Any) -> Int {
        switch value {
        case let set as NSOrderedSet: set.count
        case let set as NSSet: set.count
        case let set as Set<NSManagedObject>: set.count
        default: 0
        }
    }

    /// The title of a section, from the value at its key path.
    static func sectionTitle(_ value: Any?, key: String, attribute: NSAttributeDescription?, name: String) -> String {
        guard let attribute else { return name.isEmpty ? tr("(none)") : name }
        guard let value, !(value is NSNull) else { return tr("(none)") }
        switch attribute.attributeType {
        case .stringAttributeType: return (value as? String).map { $0.isEmpty ? tr("(empty)") : $0 } ?? name
        case .booleanAttributeType:
            let title = PropertyTitle.title(key)
            guard (value as? Bool) != true else { return title }
            // `Is folder: no`, because “Not is folder” is not English.
            let isQuestion = ["Is ", "Has ", "Can ", "Should ", "Was "].contains { title.hasPrefix($0) }
            return isQuestion
                ? sentence("\(title): no") : sentence("Not \(title.prefix(1).lowercased() + title.dropFirst())")
        case .dateAttributeType: return text(value, of: attribute)
        default: return "\(PropertyTitle.title(key)) \(text(value, of: attribute))"
        }
    }
}

/// Names of records on the screen.
nonisolated enum RecordName {
    /// The label; without a label attribute, the coordinates; else `Entity p12`.
    static func text(_ object: NSManagedObject) -> String {
        if object.isDeleted || object.managedObjectContext == nil { return tr("deleted record") }
        if let label = EntityDisplay.label(of: object.entity) {
            if let text = object.value(forKey: label.name) as? String, !text.isEmpty { return text }
        } else if let text = coordinates(of: object) {
            return text
        }
        return fallback(object)
    }

    /// True if the names of an entity's records are made from their values.
    static func needsValues(_ entity: NSEntityDescription) -> Bool {
        EntityDisplay.label(of: entity) != nil || entity.attributesByName["latitude"] != nil
    }

    /// The beginning of the name, for messages.
    static func short(_ object: NSManagedObject) -> String { short(text(object)) }

    /// The beginning of a long name or value, in one line.
    static func short(_ name: String) -> String {
        TextWidth().truncated(
            name.prefix(4 * longest).split(whereSeparator: \.isNewline).joined(separator: " "), to: longest)
    }

    /// Maximum number of columns of a name in a message.
    private static let longest = 40

    /// The current name of a record, or the last one before it was deleted if its values are still in memory.
    static func lastKnown(_ object: NSManagedObject) -> String {
        if !object.isDeleted, let context = object.managedObjectContext {
            // Firing a fault without a row would count as a deletion by the user.
            let isThere = !object.isFault || (try? context.existingObject(with: object.objectID)) != nil
            return isThere ? text(object) : fallback(object)
        }
        guard !object.isFault, let label = EntityDisplay.label(of: object.entity),
            let text = object.value(forKey: label.name) as? String, !text.isEmpty
        else { return fallback(object) }
        return text
    }

    /// The name of a record without a title: `Location p12`, or `new Location` before it is saved.
    static func fallback(_ object: NSManagedObject) -> String {
        let entity = object.entity.name ?? "?"
        if object.objectID.isTemporaryID { return sentence("new \(entity)") }
        return "\(entity) \(object.objectID.uriRepresentation().lastPathComponent)"
    }

    /// The latitude and longitude as a name, for a record without label.
    private static func coordinates(of object: NSManagedObject) -> String? {
        let attributes = object.entity.attributesByName
        guard attributes["latitude"] != nil, attributes["longitude"] != nil,
            let latitude = object.value(forKey: "latitude") as? Double,
            let longitude = object.value(forKey: "longitude") as? Double
        else { return nil }
        func degrees(_ value: Double, _ signs: (String, String)) -> String {
            let hundredths = Int((abs(value) * 100).rounded())
            let fraction = hundredths % 100
            return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)°\(value < 0 ? signs.1 : signs.0)"
        }
        return degrees(latitude, ("N", "S")) + " " + degrees(longitude, ("E", "W"))
    }
}
