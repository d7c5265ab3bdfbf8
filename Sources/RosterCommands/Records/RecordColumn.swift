import CoreData
import Foundation

/// One column of records: an attribute or relationship of the record or of one at the end of a to-one path, a computed
/// value, or the record's URI.
struct RecordColumn {
    /// Name of the column of URIs, in entities without a property of this name.
    static let objectName = "object"

    let name: String
    private let path: [String]
    private let computed: ComputedValue?
    /// The property that the column shows; `nil` for the URI of the record and for computed values.
    private let property: NSPropertyDescription?
    /// The properties that the column reads: the relationships of its path and the parts that it shows.
    let properties: [NSPropertyDescription]

    /// - Parameter text: a key path or an expression, with a title after `as`.
    /// - Throws: ``CommandError`` of misuse for a key that the entity does not have.
    init(_ text: String, of entity: NSEntityDescription) throws {
        let column = ColumnText(text)
        let name = column.source
        self.name = column.title
        guard column.isKeyPath else {
            (path, property, properties) = ([], nil, [])
            computed = try ComputedValue(text, of: entity)
            return
        }
        computed = nil
        path = name.split(separator: ".").map(String.init)
        if name == Self.objectName, entity.propertiesByName[name] == nil {
            property = nil
        } else {
            property = try EntityKeys.property(at: name, of: entity)
        }
        var owner: NSEntityDescription? = entity
        let way = path.compactMap { key in
            let property = owner?.propertiesByName[key]
            owner = (property as? NSRelationshipDescription)?.destinationEntity
            return property
        }
        let isPart = (property as? NSRelationshipDescription)?.isOwnedPart == true
        properties = way + (isPart ? owner?.storedAttributes ?? [] : [])
    }

    var isNumeric: Bool { computed?.isNumeric ?? ((property as? NSAttributeDescription)?.isNumeric == true) }

    /// Collects the values that the column shows of a record and that are stored but cannot be read.
    func look(for missing: inout UnreadableValues, of object: NSManagedObject) throws {
        guard mayBeMissing, let owner = owner(from: object) else { return }
        if let attribute = property as? NSAttributeDescription { return try missing.look(at: attribute, of: owner) }
        guard let part = owner.value(forKey: property?.name ?? "") as? NSManagedObject else { return }
        try missing.look(at: part)
    }

    /// True if values of the column, or of its parts, may be stored and still read as nil.
    private var mayBeMissing: Bool {
        if let attribute = property as? NSAttributeDescription { return attribute.mayBeMissing }
        guard let relationship = property as? NSRelationshipDescription, relationship.isOwnedPart,
            let part = relationship.destinationEntity
        else { return false }
        return part.storedAttributes.contains(where: \.mayBeMissing)
    }

    /// The paths of relationships whose destinations the column shows.
    var relationshipPaths: [String] {
        if let computed { return computed.relationshipPaths }
        let way = path.dropLast().joined(separator: ".")
        guard let relationship = property as? NSRelationshipDescription,
            let destination = relationship.destinationEntity,
            relationship.isToMany || relationship.isOwnedPart || UniqueKey(of: destination) != nil
        else { return way.isEmpty ? [] : [way] }
        return [path.joined(separator: ".")]
    }

    /// The value as JSON.
    func json(of object: NSManagedObject) -> JSONValue {
        if let computed { return computed.json(of: object) }
        guard let property else { return .string(RecordLabel.uri(of: object)) }
        guard let owner = owner(from: object) else { return .null }
        switch property {
        case let attribute as NSAttributeDescription:
            return ValueText.json(owner.value(forKey: attribute.name), of: attribute)
        case let relationship as NSRelationshipDescription:
            if relationship.isToMany {
                return .array(Self.destinations(relationship, of: owner).map(RecordLabel.reference))
            }
            guard let destination = owner.value(forKey: relationship.name) as? NSManagedObject else { return .null }
            return relationship.isOwnedPart ? Self.nested(destination) : RecordLabel.reference(to: destination)
        default: return .null
        }
    }

    /// The value as text for people.
    func shown(of object: NSManagedObject) -> String {
        if let computed { return computed.shown(of: object) }
        guard let property else { return RecordLabel.uri(of: object) }
        guard let owner = owner(from: object) else { return "" }
        switch property {
        case let attribute as NSAttributeDescription:
            return ValueText.shown(owner.value(forKey: attribute.name), of: attribute)
        case let relationship as NSRelationshipDescription:
            if relationship.isToMany {
                return Self.destinations(relationship, of: owner).map(RecordLabel.shown).joined(separator: ", ")
            }
            return (owner.value(forKey: relationship.name) as? NSManagedObject).map(RecordLabel.shown) ?? ""
        default: return ""
        }
    }

    /// Destinations of a to-many relationship, in its order or else by label.
    static func destinations(_ relationship: NSRelationshipDescription, of object: NSManagedObject) -> [NSManagedObject]
    {
        if relationship.isOrdered {
            return (object.value(forKey: relationship.name) as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        }
        let set = object.value(forKey: relationship.name) as? Set<NSManagedObject> ?? []
        return set.map { (RecordLabel.shown($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func owner(from object: NSManagedObject) -> NSManagedObject? {
        var owner = object
        for key in path.dropLast() {
            guard let next = owner.value(forKey: key) as? NSManagedObject else { return nil }
            owner = next
        }
        return owner
    }

    private static func nested(_ object: NSManagedObject) -> JSONValue {
        .object(
            object.entity.storedAttributes.map { ($0.name, ValueText.json(object.value(forKey: $0.name), of: $0)) })
    }
}

extension NSAttributeDescription {
    fileprivate var mayBeMissing: Bool {
        allowsExternalBinaryDataStorage
            || [.transformableAttributeType, .compositeAttributeType].contains(attributeType)
    }
}

extension NSRelationshipDescription {
    /// True if the destination is deleted with the record and has no name of its own. Such a record is written as part
    /// of its owner.
    var isOwnedPart: Bool {
        guard !isToMany, deleteRule == .cascadeDeleteRule, let destinationEntity else { return false }
        return UniqueKey(of: destinationEntity)?.single == nil
    }
}

extension NSEntityDescription {
    /// The stored attributes: the unique key's first, then the others in the model's order.
    var storedAttributes: [NSAttributeDescription] {
        let key = UniqueKey(of: self)?.attributes ?? []
        let others = properties.compactMap { $0 as? NSAttributeDescription }
            .filter { attribute in !attribute.isTransient && !key.contains { $0.name == attribute.name } }
        return key + others
    }

    var storedRelationships: [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { !$0.isTransient }
    }
}
