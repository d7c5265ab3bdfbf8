import Foundation

/// The hashes by which a store and a model recognise each other.
///
/// A property's hash covers what its column depends on, an entity's covers its properties (inherited ones too, none that
/// are transient), its parent and its uniqueness constraints. Names of classes, default values, validation, delete rules
/// and indexes are left out: changing them needs no migration. The composition is that of Apple's files, byte for byte,
/// except for derived and composite attributes, whose composition there is unknown: theirs also covers the derivation
/// or the elements, in a form of our own. Entities that have such an attribute take the hash that stands beside their
/// compiled model, or in the metadata of the store that keeps their model (``adopt(_:in:)``).
enum VersionHash {
    /// The style of the hashes, as the metadata of a store names it.
    static let version = 3

    /// 32 bytes for a property.
    static func property(_ property: NSPropertyDescription) -> Data {
        var hash = SHA256()
        hash.update(common(property))
        switch property {
        case let attribute as NSAttributeDescription: add(attribute, to: &hash)
        case let relationship as NSRelationshipDescription: add(relationship, to: &hash)
        default: break
        }
        return Data(hash.finalize())
    }

    private static func common(_ property: NSPropertyDescription) -> [UInt8] {
        var hash = SHA256()
        hash.update(property.name.utf8)
        hash.update([property.isOptional ? 1 : 0, 0])
        hash.update((property.versionHashModifier ?? "").utf8)
        return hash.finalize()
    }

    private static func add(_ attribute: NSAttributeDescription, to hash: inout SHA256) {
        hash.update(littleEndian(Int(attribute.attributeType.rawValue)))
        if attribute.allowsExternalBinaryDataStorage { hash.update([1]) }
        if attribute.preservesValueInHistoryOnDeletion { hash.update([1]) }
        switch attribute {
        case let derived as NSDerivedAttributeDescription:
            hash.update("derived:\(derived.derivationExpression?.description ?? "")".utf8)
        case let composite as NSCompositeAttributeDescription:
            for element in composite.elements.sorted(by: { $0.name < $1.name }) { hash.update(property(element)) }
        default: break
        }
    }

    private static func add(_ relationship: NSRelationshipDescription, to hash: inout SHA256) {
        let inverse = relationship.inverseRelationship
        hash.update((relationship.destinationEntity?.name ?? "").utf8)
        hash.update((inverse === relationship ? "" : inverse?.name ?? "").utf8)
        hash.update(littleEndian(relationship.maxCount))
        hash.update(littleEndian(relationship.minCount))
        if relationship.isOrdered { hash.update([1, 0]) }
    }

    /// 32 bytes for an entity. Hashes the parents too: for all entities of a model use ``entities(_:)``.
    static func entity(_ entity: NSEntityDescription) -> Data {
        Self.entity(entity, parent: entity.superentity.map { Self.entity($0) })
    }

    private static func entity(_ entity: NSEntityDescription, parent: Data?) -> Data {
        if let written = entity.writtenVersionHash { return written }
        var hash = SHA256()
        hash.update((entity.name ?? "").utf8)
        hash.update([entity.isAbstract ? 1 : 0])
        if let parent { hash.update(parent) }
        for (_, property) in entity.propertiesByName.sorted(by: { precedes($0.key, $1.key) })
        where !property.isTransient && !(property is NSFetchedPropertyDescription) {
            hash.update(property.versionHash)
        }
        hash.update((entity.versionHashModifier ?? "").utf8)
        let constraints = entity.uniquenessConstraintNames.map { $0.joined(separator: ".") }
        hash.update(constraints.sorted(by: precedes).joined().utf8)
        return Data(hash.finalize())
    }

    /// The hashes of `entities` under their names, each computed once.
    static func entities(_ entities: [NSEntityDescription]) -> [String: Data] {
        var made: [ObjectIdentifier: Data] = [:]
        func hash(_ entity: NSEntityDescription) -> Data {
            if let known = made[ObjectIdentifier(entity)] { return known }
            let new = Self.entity(entity, parent: entity.superentity.map(hash))
            made[ObjectIdentifier(entity)] = new
            return new
        }
        return Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, hash(entity)) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Makes entities whose hash cannot be computed take it from `hashes`, which Apple's tools wrote for the same model.
    static func adopt(_ hashes: [String: Data], in model: NSManagedObjectModel) {
        for entity in model.entities {
            let isUnknown = entity.attributesByName.values.contains {
                $0 is NSDerivedAttributeDescription || $0 is NSCompositeAttributeDescription
            }
            if isUnknown, let name = entity.name, let hash = hashes[name], hash.count == 32 {
                entity.writtenVersionHash = hash
            }
        }
    }

    /// Base 64 of one hash of all hashes: `NSStoreModelVersionChecksumKey` of a store's metadata.
    static func checksum(_ hashes: [String: Data]) -> String {
        var hash = SHA256()
        for (_, value) in sorted(hashes) { hash.update(value) }
        return Data(hash.finalize()).base64EncodedString()
    }

    /// Base 64 of one hash of all names and hashes: `NSStoreModelVersionHashesDigest` of a store's metadata.
    static func digest(_ hashes: [String: Data]) -> String {
        var hash = SHA512()
        for (name, value) in sorted(hashes) {
            hash.update(name.utf8)
            hash.update(value)
        }
        return Data(hash.finalize()).base64EncodedString()
    }

    private static func sorted(_ hashes: [String: Data]) -> [(key: String, value: Data)] {
        hashes.sorted { precedes($0.key, $1.key) }
    }

    /// The order of names by their bytes.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private static func littleEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: Int32(truncatingIfNeeded: number).littleEndian, Array.init)
    }
}
