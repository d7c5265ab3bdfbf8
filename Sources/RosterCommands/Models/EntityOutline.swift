import CoreData
import Foundation

/// An entity as text and as JSON: attributes, relationships and uniqueness constraints.
struct EntityOutline {
    private let entity: NSEntityDescription

    init(_ entity: NSEntityDescription) { self.entity = entity }

    private var attributes: [NSAttributeDescription] {
        entity.properties.compactMap { $0 as? NSAttributeDescription }.sorted { $0.name < $1.name }
    }

    private var relationships: [NSRelationshipDescription] {
        entity.properties.compactMap { $0 as? NSRelationshipDescription }.sorted { $0.name < $1.name }
    }

    private var fetchedProperties: [NSFetchedPropertyDescription] {
        entity.properties.compactMap { $0 as? NSFetchedPropertyDescription }.sorted { $0.name < $1.name }
    }

    private static func text(of element: NSFetchIndexElementDescription) -> String {
        let expression = (element.property as? NSExpressionDescription)?.expression?.description
        return (expression ?? element.propertyName ?? "?") + (element.isAscending ? "" : " descending")
    }

    private var uniqueKeys: [[String]] {
        entity.uniquenessConstraints.map { constraint in
            constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
        }
    }

    // MARK: Text

    func text(_ style: TextStyle) -> String {
        let parent = entity.superentity?.name.map { ": \($0)" } ?? ""
        var lines = [style.bold((entity.name ?? "?") + parent) + (entity.isAbstract ? " (abstract)" : "")]
        let names = attributes.map(\.name) + relationships.map(\.name)
        let width = names.map(style.width).max() ?? 0
        func line(_ name: String, _ text: String) {
            let space = String(repeating: " ", count: max(0, width - style.width(name)))
            lines.append("  \(name)\(space)  \(text)")
        }
        for attribute in attributes {
            line(attribute.name, ([attribute.attributeType.editorName] + traits(of: attribute)).joined(separator: ", "))
        }
        for relationship in relationships {
            let target = "→ \(relationship.destinationEntity?.name ?? "?")"
            let inverse = relationship.inverseRelationship.map { ".\($0.name)" } ?? ""
            line(relationship.name, ([target + inverse] + traits(of: relationship)).joined(separator: ", "))
        }
        for fetched in fetchedProperties {
            let predicate = fetched.fetchRequest?.predicate.map { " where \($0.formatString)" } ?? ""
            line(fetched.name, "fetched: \(fetched.fetchRequest?.entityName ?? "?")\(predicate)")
        }
        for key in uniqueKeys { lines.append("  unique: \(key.joined(separator: ", "))") }
        for index in entity.indexes {
            lines.append("  index \(index.name): \(index.elements.map(Self.text(of:)).joined(separator: ", "))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func traits(of attribute: NSAttributeDescription) -> [String] {
        var traits: [String] = []
        if let derived = attribute as? NSDerivedAttributeDescription {
            traits.append("derived from \(derived.derivationExpression?.description ?? "?")")
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            let parts = composite.elements.map { "\($0.name): \($0.attributeType.editorName)" }
            traits.append("(\(parts.joined(separator: "; ")))")
        }
        if attribute.isTransient { traits.append("transient") }
        if !attribute.isOptional { traits.append("required") }
        if let value = attribute.defaultValue {
            traits.append("default \(ValueText.shown(value, of: attribute))")
        }
        traits += attribute.validationPredicates.map { "must be \($0.formatString)" }
        return traits
    }

    private func traits(of relationship: NSRelationshipDescription) -> [String] {
        var traits = [relationship.isToMany ? "to many" : "to one"]
        if relationship.isOrdered { traits.append("ordered") }
        if !relationship.isOptional { traits.append("required") }
        traits.append("delete rule \(Self.name(of: relationship.deleteRule))")
        return traits
    }

    // MARK: JSON

    var json: JSONValue {
        var members: RecordFields = [("entity", .string(entity.name ?? ""))]
        if let parent = entity.superentity?.name { members.append(("parent", .string(parent))) }
        members.append(("abstract", .bool(entity.isAbstract)))
        members.append(("attributes", .array(attributes.map(json(of:)))))
        members.append(("relationships", .array(relationships.map(json(of:)))))
        members.append(("unique", .array(uniqueKeys.map { .array($0.map(JSONValue.string)) })))
        members.append(("class", .string(entity.managedObjectClassName)))
        if let former = entity.renamingIdentifier, former != entity.name {
            members.append(("renamingIdentifier", .string(former)))
        }
        members.append(("versionHash", .string(entity.versionHash.map { String(format: "%02x", $0) }.joined())))
        members.append(("indexes", .array(entity.indexes.map(json(of:)))))
        members.append(("fetchedProperties", .array(fetchedProperties.map(json(of:)))))
        return .object(members)
    }

    private func json(of attribute: NSAttributeDescription) -> JSONValue {
        var members: RecordFields = [
            ("name", .string(attribute.name)), ("type", .string(attribute.attributeType.editorName)),
            ("optional", .bool(attribute.isOptional)), ("transient", .bool(attribute.isTransient)),
            ("default", ValueText.json(attribute.defaultValue, of: attribute)),
        ]
        if let derived = attribute as? NSDerivedAttributeDescription {
            members.append(("derivation", derived.derivationExpression.map { .string($0.description) } ?? .null))
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            members.append(("elements", .array(composite.elements.map(json(of:)))))
        }
        return .object(members)
    }

    private func json(of index: NSFetchIndexDescription) -> JSONValue {
        .object([
            ("name", .string(index.name)), ("elements", .array(index.elements.map { .string(Self.text(of: $0)) })),
            ("where", index.partialIndexPredicate.map { .string($0.formatString) } ?? .null),
        ])
    }

    private func json(of fetched: NSFetchedPropertyDescription) -> JSONValue {
        .object([
            ("name", .string(fetched.name)),
            ("entity", fetched.fetchRequest?.entityName.map(JSONValue.string) ?? .null),
            ("predicate", fetched.fetchRequest?.predicate.map { .string($0.formatString) } ?? .null),
        ])
    }

    private func json(of relationship: NSRelationshipDescription) -> JSONValue {
        .object([
            ("name", .string(relationship.name)),
            ("destination", relationship.destinationEntity?.name.map(JSONValue.string) ?? .null),
            ("inverse", relationship.inverseRelationship.map { .string($0.name) } ?? .null),
            ("toMany", .bool(relationship.isToMany)), ("ordered", .bool(relationship.isOrdered)),
            ("optional", .bool(relationship.isOptional)),
            ("deleteRule", .string(Self.name(of: relationship.deleteRule))),
        ])
    }

    private static func name(of rule: NSDeleteRule) -> String {
        switch rule {
        case .noActionDeleteRule: "no action"
        case .nullifyDeleteRule: "nullify"
        case .cascadeDeleteRule: "cascade"
        case .denyDeleteRule: "deny"
        }
    }
}
