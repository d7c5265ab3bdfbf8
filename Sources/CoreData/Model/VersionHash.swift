import Foundation
import ModelFiles

/// The hashes that show whether a store fits a model.
///
/// A property's hash covers everything its column depends on. An entity's hash covers its properties (including
/// inherited, excluding transient ones), its parent and its uniqueness constraints. The formula
/// (``VersionHashFormula``) is that of Apple's files, except for derived attributes, whose formula is unknown: here
/// they also cover the derivation. Entities with such attributes take the hash from their compiled model, or from the
/// metadata of the store that caches their model (``adopt(_:in:)``).
///
/// Earlier versions of this framework hashed composite attributes differently. Their stores still fit their models
/// (``earlier(_:)``).
enum VersionHash {
    /// The hash style, as named in a store's metadata.
    static let version = 3

    /// The 32-byte hash of a property.
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

    /// The additional hashed bytes of a derived attribute.
    private static func addition(of attribute: NSAttributeDescription) -> [UInt8] {
        guard let derived = attribute as? NSDerivedAttributeDescription else { return [] }
        return VersionHashFormula.derivation(derived.derivationExpression?.description ?? "")
    }

    /// The 32-byte hash of an entity. Hashes the parents too: for all entities of a model use ``entities(_:)``.
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

    /// The hashes of `entities` by name. Each hash, also of an inherited property, is computed once.
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

    /// The hashes of a model's entities. In the earlier form of hashes if `stored` uses that form.
    static func entities(of model: NSManagedObjectModel, as stored: [String: Data]) -> [String: Data] {
        var hashes = model.entityVersionHashesByName
        for (name, hash) in stored {
            guard let own = hashes[name], own != hash, let entity = model.entitiesByName[name] else { continue }
            if earlier(entity) == hash { hashes[name] = hash }
        }
        return hashes
    }

    // MARK: Hashes of others

    /// For entities whose hash cannot be computed, takes it from `hashes`, written by Apple's tools for the same model.
    static func adopt(_ hashes: [String: Data], in model: NSManagedObjectModel) {
        for entity in model.entities {
            let isUnknown = entity.attributesByName.values.contains { $0 is NSDerivedAttributeDescription }
            if isUnknown, let name = entity.name, let hash = hashes[name], hash.count == 32 {
                entity.writtenVersionHash = hash
            }
        }
    }

    /// Base 64 of a hash over all hashes: `NSStoreModelVersionChecksumKey` in a store's metadata.
    static func checksum(_ hashes: [String: Data]) -> String { VersionHashFormula.checksum(hashes) }

    /// Base 64 of a hash over all names and hashes: `NSStoreModelVersionHashesDigest` in a store's metadata.
    static func digest(_ hashes: [String: Data]) -> String { VersionHashFormula.digest(hashes) }
}
