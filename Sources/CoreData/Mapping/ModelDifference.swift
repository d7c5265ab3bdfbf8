import Foundation

/// Correspondence of entities and properties in two versions of a model, inferred from names and renaming identifiers
/// only.
///
/// A destination corresponds to the source whose name or own renaming identifier equals the destination's renaming
/// identifier, which defaults to its name.
package struct ModelDifference {
    /// The destination entities in order, each with its source entity.
    let pairs: [(source: NSEntityDescription?, destination: NSEntityDescription)]
    /// The source entities without a destination.
    let removed: [NSEntityDescription]
    private let sources: [ObjectIdentifier: NSEntityDescription]
    private let destinations: [ObjectIdentifier: NSEntityDescription]

    /// - Throws: 134190 with the reason if the destination's values cannot be derived from the source's rows.
    package init(from source: [NSEntityDescription], to destination: [NSEntityDescription]) throws {
        let finder = SourceFinder(source)
        var sources: [ObjectIdentifier: NSEntityDescription] = [:]
        var destinations: [ObjectIdentifier: NSEntityDescription] = [:]
        for entity in destination {
            guard let found = finder.source(of: entity) else { continue }
            if let other = destinations[ObjectIdentifier(found)] {
                throw Self.refusal(
                    "\(other.name ?? "") and \(entity.name ?? "") both have the renaming identifier of \(found.name ?? "")"
                )
            }
            sources[ObjectIdentifier(entity)] = found
            destinations[ObjectIdentifier(found)] = entity
        }
        pairs = destination.map { (sources[ObjectIdentifier($0)], $0) }
        removed = source.filter { destinations[ObjectIdentifier($0)] == nil }
        self.sources = sources
        self.destinations = destinations
        try checkHierarchies()
        for (source, destination) in pairs {
            guard let source else { continue }
            for property in destination.properties { try check(property, of: destination, from: source) }
        }
    }

    /// The source of a destination entity; `nil` if it is new.
    package func source(of entity: NSEntityDescription) -> NSEntityDescription? { sources[ObjectIdentifier(entity)] }

    /// The destination of a source entity; `nil` if it was removed.
    package func destination(of entity: NSEntityDescription) -> NSEntityDescription? {
        destinations[ObjectIdentifier(entity)]
    }

    /// The source property of a property of the destination; `nil` if the property or its entity is new.
    package func source(of property: NSPropertyDescription, in entity: NSEntityDescription) -> NSPropertyDescription? {
        source(of: entity).flatMap(property.source)
    }

    /// True if the source of the attribute's entity does not have the attribute.
    func isNew(_ attribute: NSAttributeDescription) -> Bool {
        attribute.owningEntity.map { source(of: attribute, in: $0) == nil } ?? false
    }

    /// All source relationships of a destination relationship, in the entities that have it; each once.
    package func sources(of relationship: NSRelationshipDescription) -> [NSRelationshipDescription] {
        var seen: Set<ObjectIdentifier> = []
        return relationship.entity.family.compactMap { entity in
            guard let source = source(of: relationship, in: entity) as? NSRelationshipDescription,
                seen.insert(ObjectIdentifier(source)).inserted
            else { return nil }
            return source
        }
    }

    // MARK: What cannot be inferred

    /// The rows of one hierarchy must come from one table: rows of two tables could have the same keys.
    private func checkHierarchies() throws {
        for (_, root) in pairs where root.superentity == nil {
            let roots = root.family.compactMap { source(of: $0)?.root }
            guard let first = roots.first, let other = roots.first(where: { $0 !== first }) else { continue }
            throw Self.refusal(
                "subentities of \(root.name ?? "") come from two hierarchies, \(first.name ?? "") and "
                    + "\(other.name ?? "")")
        }
    }

    private func check(
        _ property: NSPropertyDescription, of entity: NSEntityDescription, from sourceEntity: NSEntityDescription
    ) throws {
        guard let source = source(of: property, in: entity) else { return }
        let name = "\(entity.name ?? "").\(property.name)"
        switch (source, property) {
        case (let source as NSCompositeAttributeDescription, let composite as NSCompositeAttributeDescription):
            for leaf in composite.leaves {
                guard let found = composite.source(of: leaf, in: source)?.attribute else { continue }
                // Files of composite elements are not read: in Apple's framework only attributes have external files.
                let change = AttributeChange(from: found, to: leaf.attribute)
                guard change != nil, change != .toInline else {
                    throw Self.refusal(
                        "the type of \(([name] + leaf.path).joined(separator: ".")) changed from "
                            + "\(found.attributeType.editorName) to \(leaf.attribute.attributeType.editorName)")
                }
            }
        case (let source as NSAttributeDescription, let attribute as NSAttributeDescription):
            guard AttributeChange(from: source, to: attribute) != nil else {
                throw Self.refusal(
                    "the type of \(name) changed from \(source.attributeType.editorName) to "
                        + "\(attribute.attributeType.editorName)")
            }
        case (let source as NSRelationshipDescription, let relationship as NSRelationshipDescription):
            if source.isToMany, !relationship.isToMany {
                throw Self.refusal("\(name) changed from to-many to to-one, so it is unknown which object to keep")
            }
            try checkDestination(of: relationship, from: source, name)
        default: break
        }
    }

    private func checkDestination(
        of relationship: NSRelationshipDescription, from source: NSRelationshipDescription, _ name: String
    ) throws {
        guard let old = source.destinationEntity, let new = relationship.destinationEntity else { return }
        let kept = old.family.compactMap(destination)
        guard let stray = kept.first(where: { !$0.isKindOf(entity: new) }) else { return }
        throw Self.refusal(
            "the destination of \(name) changed from \(old.name ?? "") to \(new.name ?? ""), which has no \(stray.name ?? "")"
        )
    }

    private static func refusal(_ reason: String) -> NSError {
        CoreDataError.make(
            134190, "Cannot infer the mapping model: \(reason). Add a mapping model.",
            userInfo: ["reason": reason])
    }
}

extension NSPropertyDescription {
    /// The property of an earlier entity that this one replaces in inferred migrations; `nil` if it is new.
    /// Attributes correspond only to attributes, and relationships only to relationships.
    package final func source(in entity: NSEntityDescription) -> NSPropertyDescription? {
        guard !isTransient else { return nil }
        let wanted = renamingIdentifier ?? name
        if let found = entity.propertiesByName[wanted], isOfKind(of: found) { return found }
        return entity.properties.first { $0.explicitRenamingIdentifier == wanted && isOfKind(of: $0) }
    }

    private func isOfKind(of source: NSPropertyDescription) -> Bool {
        guard !source.isTransient else { return false }
        return (self is NSAttributeDescription && source is NSAttributeDescription)
            || (self is NSRelationshipDescription && source is NSRelationshipDescription)
    }
}

/// Finds the source of an entity.
private struct SourceFinder {
    private let byName: [String: NSEntityDescription]
    private let byIdentifier: [String: NSEntityDescription]

    init(_ entities: [NSEntityDescription]) {
        byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        byIdentifier = Dictionary(
            entities.compactMap { entity in entity.explicitRenamingIdentifier.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
    }

    func source(of entity: NSEntityDescription) -> NSEntityDescription? {
        let wanted = entity.renamingIdentifier ?? entity.name ?? ""
        return byName[wanted] ?? byIdentifier[wanted]
    }
}

/// The conversion of an attribute's values between model versions.
enum AttributeChange {
    case same
    /// Converts values to a number type that can represent all old values.
    case toReal
    case toDecimal
    /// Adds or removes the byte of the column that marks external storage.
    case toExternal
    case toInline

    /// `nil` for any other change of type.
    init?(from source: NSAttributeDescription, to destination: NSAttributeDescription) {
        let (old, new) = (source.attributeType, destination.attributeType)
        if old == .binaryDataAttributeType, new == old {
            let (was, becomes) = (source.allowsExternalBinaryDataStorage, destination.allowsExternalBinaryDataStorage)
            self = was == becomes ? .same : becomes ? .toExternal : .toInline
            return
        }
        if old == new {
            self = .same
            return
        }
        let whole: [NSAttributeType] = [
            .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
        ]
        let place = whole.firstIndex(of: old)
        switch new {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            guard let place, let other = whole.firstIndex(of: new), place < other else { return nil }
            self = .same
        case .doubleAttributeType:
            guard old == .floatAttributeType || (place.map { $0 < 3 } ?? false) else { return nil }
            self = .toReal
        case .decimalAttributeType:
            guard place != nil else { return nil }
            self = .toDecimal
        default: return nil
        }
    }
}
