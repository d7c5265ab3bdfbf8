import CoreData
import Foundation

/// A version of a model as plain values. A part keeps its number in all versions, even if its name or position changes.
@MainActor
struct ModelSpec {
    struct Attribute {
        let id: Int
        var name: String
        var type: NSAttributeType
        var isOptional = true
        var hasDefault = false
        var isExternal = false
        var isIndexed = false
        var isComposite: Bool { type == .compositeAttributeType }
    }

    /// A derived attribute.
    struct Derivation {
        enum Source {
            /// A text in upper case.
            case upper(attribute: Int)
            case count(relationship: Int, place: Int)
        }

        let name: String
        let source: Source
    }

    struct Entity {
        let id: Int
        var name: String
        var parent: Int?
        var isAbstract = false
        var attributes: [Attribute] = []
        var derivations: [Derivation] = []
        /// True for a root entity whose tags are unique.
        var hasUniqueTags = false
        /// Changed for edits that do not change the version hash otherwise.
        var modifier: String?
    }

    struct End {
        var entity: Int
        var name: String
        var isMany: Bool
        var isOrdered: Bool
    }

    /// Both ends of a relationship.
    struct Relationship {
        let id: Int
        var ends: [End]
    }

    var entities: [Entity] = []
    var relationships: [Relationship] = []
    /// True to use only features that all store types support: no derived and no composite attributes.
    private var isPlain = false
    private var last = 0

    mutating func newID() -> Int {
        last += 1
        return last
    }

    // MARK: Asking

    subscript(id: Int) -> Entity? { entities.first { $0.id == id } }

    /// The entity and its ancestors.
    func line(of id: Int) -> [Entity] {
        var line: [Entity] = []
        var next: Int? = id
        while let current = next.flatMap({ self[$0] }) {
            line.append(current)
            next = current.parent
        }
        return line
    }

    func isKind(_ id: Int, of other: Int) -> Bool { line(of: id).contains { $0.id == other } }

    func family(of id: Int) -> [Entity] { entities.filter { isKind($0.id, of: id) } }

    func root(of id: Int) -> Int { line(of: id).last?.id ?? id }

    func attributes(of id: Int) -> [Attribute] { line(of: id).flatMap(\.attributes) }

    /// The relationship ends of an entity's objects, with the relationship's number and the end's index.
    func ends(of id: Int) -> [(relationship: Int, place: Int, end: End)] {
        relationships.flatMap { relationship in
            relationship.ends.enumerated().filter { isKind(id, of: $1.entity) }.map {
                (relationship: relationship.id, place: $0, end: $1)
            }
        }
    }

    /// The derived attributes of an entity's objects, each with its source property. Those without a source are left
    /// out.
    func derivations(of id: Int) -> [(derivation: Derivation, from: String)] {
        line(of: id).flatMap { entity in
            entity.derivations.compactMap { derivation in
                source(of: derivation, in: entity.id).map { (derivation, $0) }
            }
        }
    }

    private func source(of derivation: Derivation, in entity: Int) -> String? {
        switch derivation.source {
        case .upper(let id):
            attributes(of: entity).first { $0.id == id && $0.type == .stringAttributeType }?.name
        case .count(let relationship, let place):
            ends(of: entity).first { $0.relationship == relationship && $0.place == place && $0.end.isMany }?.end.name
        }
    }

    // MARK: The model

    static func defaultValue(_ type: NSAttributeType) -> Any {
        switch type {
        case .stringAttributeType: "default"
        case .booleanAttributeType: true
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: 7)
        case .binaryDataAttributeType: Data([7])
        case .decimalAttributeType: NSDecimalNumber(value: 7)
        default: 7
        }
    }

    /// The model of this version, with renaming identifiers for names that differ in `old`.
    func model(after old: ModelSpec? = nil) -> NSManagedObjectModel {
        var made: [Int: NSEntityDescription] = [:]
        for entity in entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.isAbstract = entity.isAbstract
            description.versionHashModifier = entity.modifier
            if let was = old?[entity.id], was.name != entity.name { description.renamingIdentifier = was.name }
            var properties: [NSPropertyDescription] = entity.attributes.map { attribute($0, after: old) }
            for derivation in entity.derivations {
                guard let from = source(of: derivation, in: entity.id) else { continue }
                properties.append(Self.attribute(derivation, from: from))
            }
            // Identifies objects in all versions.
            if entity.parent == nil {
                properties.append(MigrationDesk.attribute("tag", .integer64AttributeType))
                if entity.hasUniqueTags { description.uniquenessConstraints = [["tag"]] }
            }
            description.properties = properties
            made[entity.id] = description
        }
        for relationship in relationships { add(relationship, to: made, after: old) }
        for entity in entities {
            made[entity.id]?.subentities = entities.filter { $0.parent == entity.id }.compactMap { made[$0.id] }
            let indexed = entity.attributes.filter(\.isIndexed)
            made[entity.id]?.indexes = indexed.compactMap { attribute in
                guard let property = made[entity.id]?.propertiesByName[attribute.name] else { return nil }
                let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
                return NSFetchIndexDescription(name: "by\(attribute.id)", elements: [element])
            }
        }
        let model = NSManagedObjectModel()
        model.entities = entities.compactMap { made[$0.id] }
        return model
    }

    private static func attribute(_ derivation: Derivation, from source: String) -> NSDerivedAttributeDescription {
        let made = NSDerivedAttributeDescription()
        made.name = derivation.name
        made.isOptional = true
        switch derivation.source {
        case .upper:
            made.attributeType = .stringAttributeType
            made.derivationExpression = NSExpression(format: "uppercase:(\(source))")
        case .count:
            made.attributeType = .integer64AttributeType
            made.derivationExpression = NSExpression(format: "\(source).@count")
        }
        return made
    }

    private static func composite(_ attribute: Attribute, was: String?) -> NSCompositeAttributeDescription {
        let made = NSCompositeAttributeDescription()
        made.name = attribute.name
        made.renamingIdentifier = was
        made.elements = [
            MigrationDesk.attribute("x", .doubleAttributeType), MigrationDesk.attribute("word", .stringAttributeType),
        ]
        return made
    }

    private func attribute(_ attribute: Attribute, after old: ModelSpec?) -> NSAttributeDescription {
        let before = old?.entities.flatMap(\.attributes).first { $0.id == attribute.id }
        let was = before.flatMap { $0.name == attribute.name ? nil : $0.name }
        let made =
            attribute.isComposite
            ? Self.composite(attribute, was: was) : MigrationDesk.attribute(attribute.name, attribute.type, was: was)
        made.isOptional = attribute.isOptional
        if attribute.hasDefault { made.defaultValue = Self.defaultValue(attribute.type) }
        made.allowsExternalBinaryDataStorage = attribute.isExternal
        return made
    }

    private func add(_ relationship: Relationship, to made: [Int: NSEntityDescription], after old: ModelSpec?) {
        let was = old?.relationships.first { $0.id == relationship.id }
        let ends = relationship.ends.enumerated().map { place, end in
            let made = NSRelationshipDescription()
            made.name = end.name
            made.maxCount = end.isMany ? 0 : 1
            made.isOrdered = end.isMany && end.isOrdered
            made.isOptional = true
            if let before = was?.ends[place].name, before != end.name { made.renamingIdentifier = before }
            return made
        }
        for (place, end) in relationship.ends.enumerated() {
            ends[place].destinationEntity = made[relationship.ends[1 - place].entity]
            ends[place].inverseRelationship = ends[1 - place]
            made[end.entity]?.properties += [ends[place]]
        }
    }
}

// MARK: - Creation

extension ModelSpec {
    private static let types: [NSAttributeType] = [
        .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
        .booleanAttributeType, .doubleAttributeType, .floatAttributeType, .dateAttributeType, .binaryDataAttributeType,
        .decimalAttributeType, .compositeAttributeType,
    ]

    mutating func newAttribute(_ random: inout SeededGenerator, required: Bool = false) -> Attribute {
        let id = newID()
        let types = required || isPlain ? Array(Self.types.dropLast()) : Self.types
        let type = types.randomElement(using: &random) ?? .stringAttributeType
        var made = Attribute(id: id, name: "a\(id)", type: type)
        made.isOptional = !required
        made.hasDefault = required || !made.isComposite && Bool.random(using: &random)
        made.isExternal = type == .binaryDataAttributeType && Bool.random(using: &random)
        return made
    }

    mutating func newEntity(parent: Int?, _ random: inout SeededGenerator) {
        let id = newID()
        var made = Entity(id: id, name: "E\(id)", parent: parent)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let required = Int.random(in: 0..<4, using: &random) == 0
            made.attributes.append(newAttribute(&random, required: required))
        }
        entities.append(made)
    }

    mutating func newRelationship(_ random: inout SeededGenerator) {
        guard let from = entities.randomElement(using: &random), let to = entities.randomElement(using: &random)
        else { return }
        let id = newID()
        func end(_ entity: Int, _ name: String) -> End {
            End(
                entity: entity, name: name, isMany: Bool.random(using: &random),
                isOrdered: Int.random(in: 0..<3, using: &random) == 0)
        }
        relationships.append(Relationship(id: id, ends: [end(from.id, "r\(id)"), end(to.id, "i\(id)")]))
    }

    /// Two hierarchies and a few relationships.
    init(_ random: inout SeededGenerator, isPlain: Bool = false) {
        self.isPlain = isPlain
        newEntity(parent: nil, &random)
        let root = entities[0].id
        newEntity(parent: root, &random)
        newEntity(parent: Bool.random(using: &random) ? root : entities[1].id, &random)
        newEntity(parent: nil, &random)
        for _ in 0..<Int.random(in: 1...4, using: &random) { newRelationship(&random) }
        _ = derive(&random)
    }

    /// Derives an attribute from a random property.
    private mutating func derive(_ random: inout SeededGenerator) -> Bool {
        let texts = entities.flatMap { entity in
            entity.attributes.filter { $0.type == .stringAttributeType }.map {
                (entity.id, Derivation.Source.upper(attribute: $0.id))
            }
        }
        let lists = relationships.flatMap { relationship in
            relationship.ends.enumerated().filter { $1.isMany }.map {
                ($1.entity, Derivation.Source.count(relationship: relationship.id, place: $0))
            }
        }
        guard !isPlain, let (owner, source) = (texts + lists).randomElement(using: &random),
            // A subentity may derive from inherited properties.
            let entity = family(of: owner).randomElement(using: &random),
            let place = entities.firstIndex(where: { $0.id == entity.id })
        else { return false }
        entities[place].derivations.append(Derivation(name: "d\(newID())", source: source))
        return true
    }

    private mutating func underive(_ random: inout SeededGenerator) -> Bool {
        let places = entities.indices.filter { !entities[$0].derivations.isEmpty }
        guard let place = places.randomElement(using: &random) else { return false }
        entities[place].derivations.removeFirst()
        return true
    }

    private mutating func constrain(_ random: inout SeededGenerator) -> Bool {
        let roots = entities.indices.filter { entities[$0].parent == nil }
        guard let place = roots.randomElement(using: &random) else { return false }
        entities[place].hasUniqueTags.toggle()
        entities[place].modifier = "m\(newID())"
        return true
    }
}

// MARK: - Another version

extension ModelSpec {
    enum Edit: CaseIterable {
        case addAttribute, addRequired, removeAttribute, renameAttribute, require, release, widen, moveToFile, index
        case addRoot, addChild, removeEntity, renameEntity, insertParent, moveUnder, moveOut
        case addRelationship, removeRelationship, renameRelationship, toMany, order
        case pullUp, pushDown
        case compose, derive, underive, constrain
    }

    /// - Returns: false if the model has nothing to apply the edit to.
    mutating func apply(_ edit: Edit, _ random: inout SeededGenerator) -> Bool {
        switch edit {
        case .addAttribute, .addRequired:
            guard let place = entities.indices.randomElement(using: &random) else { return false }
            let made = newAttribute(&random, required: edit == .addRequired)
            entities[place].attributes.append(made)
            return true
        case .removeAttribute, .renameAttribute, .require, .release, .widen, .moveToFile, .index:
            return changeAttribute(edit, &random)
        case .addRoot:
            newEntity(parent: nil, &random)
            return true
        case .addChild:
            newEntity(parent: entities.randomElement(using: &random)?.id, &random)
            return true
        case .removeEntity, .renameEntity, .insertParent, .moveUnder, .moveOut: return changeEntity(edit, &random)
        case .addRelationship:
            newRelationship(&random)
            return true
        case .removeRelationship, .renameRelationship, .toMany, .order: return changeRelationship(edit, &random)
        case .pullUp, .pushDown: return moveAttribute(edit, &random)
        case .compose:
            guard !isPlain, let place = entities.indices.randomElement(using: &random) else { return false }
            let id = newID()
            entities[place].attributes.append(Attribute(id: id, name: "a\(id)", type: .compositeAttributeType))
            return true
        case .derive: return derive(&random)
        case .underive: return underive(&random)
        case .constrain: return constrain(&random)
        }
    }

    private mutating func changeAttribute(_ edit: Edit, _ random: inout SeededGenerator) -> Bool {
        let places = entities.indices.flatMap { entity in
            entities[entity].attributes.indices.map { (entity, $0) }
        }.filter { suits(edit, entities[$0.0].attributes[$0.1]) }
        guard let (entity, place) = places.randomElement(using: &random) else { return false }
        var attribute = entities[entity].attributes[place]
        switch edit {
        case .removeAttribute:
            entities[entity].attributes.remove(at: place)
            return true
        case .renameAttribute: attribute.name = "a\(attribute.id)n\(newID())"
        case .require: (attribute.isOptional, attribute.hasDefault) = (false, true)
        case .release: attribute.isOptional = true
        case .widen: attribute.type = Self.wider(attribute.type) ?? attribute.type
        case .moveToFile: attribute.isExternal.toggle()
        default:
            attribute.isIndexed.toggle()
            entities[entity].modifier = "m\(newID())"
        }
        entities[entity].attributes[place] = attribute
        return true
    }

    private func suits(_ edit: Edit, _ attribute: Attribute) -> Bool {
        switch edit {
        case .require: attribute.isOptional && !attribute.isComposite
        case .release: !attribute.isOptional
        case .widen: Self.wider(attribute.type) != nil
        case .moveToFile: attribute.type == .binaryDataAttributeType
        case .index: attribute.type != .binaryDataAttributeType && !attribute.isComposite
        default: true
        }
    }

    private static func wider(_ type: NSAttributeType) -> NSAttributeType? {
        switch type {
        case .booleanAttributeType: .integer16AttributeType
        case .integer16AttributeType: .integer32AttributeType
        case .integer32AttributeType: .integer64AttributeType
        case .integer64AttributeType: .decimalAttributeType
        case .floatAttributeType: .doubleAttributeType
        default: nil
        }
    }

    private mutating func changeEntity(_ edit: Edit, _ random: inout SeededGenerator) -> Bool {
        let fitting = entities.filter { suits(edit, $0) }
        guard let entity = fitting.randomElement(using: &random),
            let place = entities.firstIndex(where: { $0.id == entity.id })
        else { return false }
        switch edit {
        case .removeEntity:
            entities.remove(at: place)
            relationships.removeAll { $0.ends.contains { $0.entity == entity.id } }
        case .renameEntity: entities[place].name = "E\(entity.id)n\(newID())"
        case .insertParent:
            newEntity(parent: nil, &random)
            entities[entities.count - 1].isAbstract = true
            entities[place].parent = entities[entities.count - 1].id
        case .moveUnder:
            let places = newParents(of: entity)
            entities[place].parent = places.randomElement(using: &random)
        default: entities[place].parent = nil
        }
        return true
    }

    private func suits(_ edit: Edit, _ entity: Entity) -> Bool {
        switch edit {
        case .removeEntity: entities.count > 2 && family(of: entity.id).count == 1
        case .insertParent: entity.parent == nil
        case .moveUnder: entity.parent != nil && !newParents(of: entity).isEmpty
        case .moveOut:
            entity.parent != nil
                && !relationships.contains { $0.ends.contains { root(of: $0.entity) == root(of: entity.id) } }
        default: true
        }
    }

    /// The possible parents of an entity: no relationship may be lost by the move.
    private func newParents(of entity: Entity) -> [Int] {
        let above = line(of: entity.id).dropFirst().map(\.id)
        return family(of: root(of: entity.id)).map(\.id).filter { candidate in
            guard candidate != entity.parent, !isKind(candidate, of: entity.id) else { return false }
            let left = above.filter { !isKind(candidate, of: $0) }
            return !relationships.contains { $0.ends.contains { left.contains($0.entity) } }
        }
    }

    private mutating func changeRelationship(_ edit: Edit, _ random: inout SeededGenerator) -> Bool {
        let places = relationships.indices.flatMap { [($0, 0), ($0, 1)] }.filter { relationship, end in
            let end = relationships[relationship].ends[end]
            return edit == .toMany ? !end.isMany : edit == .order ? end.isMany : true
        }
        guard let (relationship, end) = places.randomElement(using: &random) else { return false }
        switch edit {
        case .removeRelationship: relationships.remove(at: relationship)
        case .renameRelationship: relationships[relationship].ends[end].name += "n\(newID())"
        case .toMany: relationships[relationship].ends[end].isMany = true
        default: relationships[relationship].ends[end].isOrdered.toggle()
        }
        return true
    }

    private mutating func moveAttribute(_ edit: Edit, _ random: inout SeededGenerator) -> Bool {
        let places = entities.indices.filter { place in
            !entities[place].attributes.isEmpty
                && (edit == .pullUp
                    ? entities[place].parent != nil : entities.contains { $0.parent == entities[place].id })
        }
        guard let from = places.randomElement(using: &random),
            let number = entities[from].attributes.indices.randomElement(using: &random)
        else { return false }
        let id = entities[from].id
        let targets = entities.indices.filter {
            edit == .pullUp ? entities[$0].id == entities[from].parent : entities[$0].parent == id
        }
        guard let to = targets.randomElement(using: &random) else { return false }
        var attribute = entities[from].attributes.remove(at: number)
        // Objects that did not have the attribute get a value.
        if !attribute.isOptional { attribute.hasDefault = true }
        entities[to].attributes.append(attribute)
        return true
    }
}
