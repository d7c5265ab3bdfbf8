import Foundation
import ModelFiles

/// The hashes by which a store and a model recognise each other.
///
/// A property's hash covers what its column depends on, an entity's covers its properties (inherited ones too, none that
/// are transient), its parent and its uniqueness constraints. The composition (``VersionHashFormula``) is that of Apple's files,
/// except for derived attributes, whose composition there is unknown: theirs also covers the derivation, in a form of our
/// own. Entities that have such an attribute take the hash that stands beside their compiled model, or in the metadata of
/// the store that keeps their model (``adopt(_:in:)``).
///
/// Earlier versions of this framework hashed composite attributes in another form. Their stores still fit their models
/// (``earlier(_:)``).
enum VersionHash {
    /// The style of the hashes, as the metadata of a store names it.
    static let version = 3

    /// 32 bytes for a property.
    static func property(_ property: NSPropertyDescription) -> Data {
        let common = VersionHashFormula.Property(
            name: property.name, isOptional: property.isOptional, modifier: property.versionHashModifier)
        switch property {
        case let composite as NSCompositeAttributeDescription:
            return VersionHashFormula.composite(
                composite.elements.map { ($0.name, self.property($0)) }, modifier: composite.versionHashModifier)
        case let attribute as NSAttributeDescription: return self.attribute(attribute, common, addition(of: attribute))
        case let relationship as NSRelationshipDescription:
            let inverse = relationship.inverseRelationship
            return VersionHashFormula.relationship(
                common, destination: relationship.destinationEntity?.name ?? "",
                inverse: inverse === relationship ? nil : inverse?.name, maxCount: relationship.maxCount,
                minCount: relationship.minCount, isOrdered: relationship.isOrdered)
        default: return VersionHashFormula.other(common)
        }
    }

    private static func attribute(
        _ attribute: NSAttributeDescription, _ common: VersionHashFormula.Property, _ addition: [UInt8]
    ) -> Data {
        VersionHashFormula.attribute(
            common, type: attribute.attributeType.rawValue, isExternal: attribute.allowsExternalBinaryDataStorage,
            isPreserved: attribute.preservesValueInHistoryOnDeletion, addition: addition)
    }

    /// What makes a derived attribute one.
    private static func addition(of attribute: NSAttributeDescription) -> [UInt8] {
        guard let derived = attribute as? NSDerivedAttributeDescription else { return [] }
        return VersionHashFormula.derivation(derived.derivationExpression?.description ?? "")
    }

    /// 32 bytes for an entity. Hashes the parents too: for all entities of a model use ``entities(_:)``.
    static func entity(_ entity: NSEntityDescription) -> Data {
        Self.entity(entity, parent: entity.superentity.map { Self.entity($0) }, \.versionHash)
    }

    private static func entity(
        _ entity: NSEntityDescription, parent: Data?, _ hash: (NSPropertyDescription) -> Data
    ) -> Data {
        if let written = entity.writtenVersionHash { return written }
        let stored = entity.propertiesByName.filter {
            !$0.value.isTransient && !($0.value is NSFetchedPropertyDescription)
        }
        return VersionHashFormula.entity(
            name: entity.name ?? "", isAbstract: entity.isAbstract, parent: parent,
            properties: stored.map { ($0.key, hash($0.value)) }, modifier: entity.versionHashModifier,
            constraints: entity.uniquenessConstraintNames)
    }

    /// The hashes of `entities` under their names, each computed once, as those of properties that several inherit.
    static func entities(_ entities: [NSEntityDescription]) -> [String: Data] {
        var made: [ObjectIdentifier: Data] = [:]
        func hash(of property: NSPropertyDescription) -> Data {
            if let known = made[ObjectIdentifier(property)] { return known }
            let new = property.versionHash
            made[ObjectIdentifier(property)] = new
            return new
        }
        func hash(_ entity: NSEntityDescription) -> Data {
            if let known = made[ObjectIdentifier(entity)] { return known }
            let new = Self.entity(entity, parent: entity.superentity.map(hash), hash(of:))
            made[ObjectIdentifier(entity)] = new
            return new
        }
        return Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, hash(entity)) } },
            uniquingKeysWith: { first, _ in first })
    }

    // MARK: Earlier versions

    /// The hash that earlier versions gave an entity with composite attributes; `nil` for other entities.
    static func earlier(_ entity: NSEntityDescription) -> Data? {
        let hasComposites = entity.propertiesByName.values.contains { $0 is NSCompositeAttributeDescription }
        guard hasComposites, entity.writtenVersionHash == nil else { return nil }
        return Self.entity(entity, parent: entity.superentity.map { earlier($0) ?? Self.entity($0) }) { property in
            (property as? NSCompositeAttributeDescription).map(earlierComposite) ?? property.versionHash
        }
    }

    private static func earlierComposite(_ composite: NSCompositeAttributeDescription) -> Data {
        let elements = composite.elements.map { element in
            (element.name, (element as? NSCompositeAttributeDescription).map(earlierComposite) ?? property(element))
        }
        let common = VersionHashFormula.Property(
            name: composite.name, isOptional: composite.isOptional, modifier: composite.versionHashModifier)
        return attribute(composite, common, VersionHashFormula.elements(elements))
    }

    /// True if a store or a mapping with that hash was made for the entity.
    static func fits(_ hash: Data, _ entity: NSEntityDescription) -> Bool {
        entity.versionHash == hash || earlier(entity) == hash
    }

    /// The hashes of a model's entities, those of earlier versions where `stored` has them.
    static func entities(of model: NSManagedObjectModel, as stored: [String: Data]) -> [String: Data] {
        var hashes = model.entityVersionHashesByName
        for (name, hash) in stored {
            guard let own = hashes[name], own != hash, let entity = model.entitiesByName[name] else { continue }
            if earlier(entity) == hash { hashes[name] = hash }
        }
        return hashes
    }

    // MARK: Hashes of others

    /// Makes entities whose hash cannot be computed take it from `hashes`, which Apple's tools wrote for the same model.
    static func adopt(_ hashes: [String: Data], in model: NSManagedObjectModel) {
        for entity in model.entities {
            let isUnknown = entity.attributesByName.values.contains { $0 is NSDerivedAttributeDescription }
            if isUnknown, let name = entity.name, let hash = hashes[name], hash.count == 32 {
                entity.writtenVersionHash = hash
            }
        }
    }

    /// Base 64 of one hash of all hashes: `NSStoreModelVersionChecksumKey` of a store's metadata.
    static func checksum(_ hashes: [String: Data]) -> String { VersionHashFormula.checksum(hashes) }

    /// Base 64 of one hash of all names and hashes: `NSStoreModelVersionHashesDigest` of a store's metadata.
    static func digest(_ hashes: [String: Data]) -> String { VersionHashFormula.digest(hashes) }
}
