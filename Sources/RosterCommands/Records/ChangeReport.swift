import CoreData
import Foundation

/// Prints the changes of an edit, one line for each record.
struct ChangeReport {
    let format: OutputFormat
    let surroundings: CommandSurroundings

    /// One property before and after.
    struct Difference {
        let key: String
        let old: JSONValue
        let new: JSONValue
    }

    /// The stored properties of `object` that differ from the saved values, in the model's order.
    static func differences(of object: NSManagedObject) -> [Difference] {
        let changed = object.changedValues()
        let committed = object.isInserted ? [:] : object.committedValues(forKeys: Array(changed.keys))
        return object.entity.properties.compactMap { property in
            guard changed[property.name] != nil else { return nil }
            let difference = Difference(
                key: property.name, old: json(committed[property.name], property),
                new: json(object.value(forKey: property.name), property))
            return difference.old == difference.new ? nil : difference
        }
    }

    /// Writes the heading line of a delimited report.
    func begin() throws {
        guard let delimited = format.delimited else { return }
        try surroundings.output.write(delimited.line(["change", "object", "key", "old", "new"]))
    }

    func changed(_ object: NSManagedObject, _ type: String, _ differences: [Difference]) throws {
        let output = surroundings.output
        let label = VisibleText.shown("\(object.entity.name ?? "?") \(RecordLabel.shown(object))")
        if format == .json {
            let changes = differences.map { ($0.key, JSONValue.array([$0.old, $0.new])) }
            let line = JSONValue.object([
                ("change", .string(type)), ("entity", .string(object.entity.name ?? "")),
                ("object", Self.identity(of: object)), ("label", .string(RecordLabel.shown(object))),
                ("values", .object(changes)),
            ])
            try output.write(line.text + "\n")
        } else if let delimited = format.delimited {
            let identity = ValueText.field(Self.identity(of: object))
            if differences.isEmpty { try output.write(delimited.line([type, identity, nil, nil, nil])) }
            for difference in differences {
                try output.write(
                    delimited.line([
                        type, identity, difference.key, ValueText.field(difference.old),
                        ValueText.field(difference.new),
                    ]))
            }
        } else {
            let changes = differences.map { "\($0.key) \(Self.shown($0.old)) → \(Self.shown($0.new))" }
            let text = changes.isEmpty ? "" : ": " + changes.joined(separator: ", ")
            try output.write("\(type) \(label)\(VisibleText.shown(text))\n")
        }
    }

    /// The identity of a record as JSON; NULL for a record that has no permanent ID yet.
    private static func identity(of object: NSManagedObject) -> JSONValue {
        object.objectID.isTemporaryID ? .null : .string(RecordLabel.uri(of: object))
    }

    static func shown(_ value: JSONValue) -> String { value == .null ? "NULL" : value.text }

    private static func json(_ value: Any?, _ property: NSPropertyDescription) -> JSONValue {
        switch property {
        case let attribute as NSAttributeDescription: return ValueText.json(value, of: attribute)
        case let relationship as NSRelationshipDescription where relationship.isToMany:
            let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
            let references = objects.compactMap { $0 as? NSManagedObject }.map { RecordLabel.reference(to: $0) }
            return .array(relationship.isOrdered ? references : references.sorted { $0.text < $1.text })
        default: return (value as? NSManagedObject).map(RecordLabel.reference) ?? .null
        }
    }
}
