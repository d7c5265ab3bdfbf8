import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Values as people read them on the screen.
nonisolated enum ValueDisplay {
    /// What is shown for no value, so that it differs from an empty text.
    static let nothing = "–"

    /// A property's value in a line: relationships by the names of their records.
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

    /// The records of a relationship's value, in its order, or else by name.
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

    private static func count(of value: Any) -> Int {
        switch value {
        case let set as NSOrderedSet: set.count
        case let set as NSSet: set.count
        case let set as Set<NSManagedObject>: set.count
        default: 0
        }
    }

    /// The value of the attribute at the end of a section's key path, as the section's title.
    static func sectionTitle(_ value: Any?, key: String, attribute: NSAttributeDescription?, name: String) -> String {
        guard let attribute else { return name.isEmpty ? tr("(none)") : name }
        guard let value, !(value is NSNull) else { return tr("(none)") }
        switch attribute.attributeType {
        case .stringAttributeType: return (value as? String).map { $0.isEmpty ? tr("(empty)") : $0 } ?? name
        case .booleanAttributeType:
            let title = PropertyTitle.title(key)
            guard (value as? Bool) != true else { return title }
            // `Is folder: no`, as “not is folder” is no English.
            let isQuestion = ["Is ", "Has ", "Can ", "Should ", "Was "].contains { title.hasPrefix($0) }
            return isQuestion
                ? sentence("\(title): no") : sentence("Not \(title.prefix(1).lowercased() + title.dropFirst())")
        case .dateAttributeType: return text(value, of: attribute)
        default: return "\(PropertyTitle.title(key)) \(text(value, of: attribute))"
        }
    }
}

/// What a record is called on the screen.
nonisolated enum RecordName {
    /// The value of its entity's label, else what its relationships or numbers say, else `Entity p12`.
    static func text(_ object: NSManagedObject) -> String {
        if object.isDeleted || object.managedObjectContext == nil { return tr("deleted record") }
        if let label = EntityDisplay.label(of: object.entity) {
            if let text = object.value(forKey: label.name) as? String, !text.isEmpty { return text }
        } else if let text = coordinates(of: object) {
            return text
        }
        return fallback(object)
    }

    /// The same where much is said beside it: so much of it that the end of a message is seen.
    static func short(_ object: NSManagedObject) -> String { short(text(object)) }

    /// The beginning of a long name or value, in one line.
    static func short(_ name: String) -> String {
        TextWidth().truncated(
            name.prefix(4 * longest).split(whereSeparator: \.isNewline).joined(separator: " "), to: longest)
    }

    /// So many columns of a name stand in a message.
    private static let longest = 40

    /// What a record is called, or was called before it was deleted, as far as its values are still in memory.
    static func lastKnown(_ object: NSManagedObject) -> String {
        if !object.isDeleted, let context = object.managedObjectContext {
            // Firing a fault whose row is gone would count as a deletion made here.
            let isThere = !object.isFault || (try? context.existingObject(with: object.objectID)) != nil
            return isThere ? text(object) : fallback(object)
        }
        guard !object.isFault, let label = EntityDisplay.label(of: object.entity),
            let text = object.value(forKey: label.name) as? String, !text.isEmpty
        else { return fallback(object) }
        return text
    }

    /// `Location p12`; `new Location` before it is saved.
    static func fallback(_ object: NSManagedObject) -> String {
        let entity = object.entity.name ?? "?"
        if object.objectID.isTemporaryID { return sentence("new \(entity)") }
        return "\(entity) \(object.objectID.uriRepresentation().lastPathComponent)"
    }

    /// A record that has a latitude and a longitude and no name is called by them.
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
