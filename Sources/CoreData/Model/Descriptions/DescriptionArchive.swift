import Foundation
import ModelFiles

/// Descriptions in keyed archives.
///
/// The archive holds the compiled form of the whole model, and the description's names in it, so that its references
/// can be restored. A decoded description belongs to no model, like a copy. A description without a model is archived
/// with the entities that it refers to.
enum DescriptionArchive {
    /// The only key of a description in an archive. Its value is a property list with the keys below.
    private static let archiveKey = "RosterDescription"
    private static let modelKey = "model"
    private static let entityKey = "entity"
    private static let propertyKey = "property"
    private static let indexKey = "index"
    private static let hashesKey = "versionHashes"
    private static let localizationKey = "localization"

    // MARK: Encoding

    static func encode(_ model: NSManagedObjectModel, with coder: NSCoder) {
        let written = model.entities.compactMap { entity in
            entity.name.flatMap { name in entity.writtenVersionHash.map { (name, $0) } }
        }
        write(
            document(describing: "The model") { try ModelDisassembly.document(of: model) },
            [
                hashesKey: Dictionary(written, uniquingKeysWith: { first, _ in first }),
                localizationKey: model.localizationDictionary ?? [:],
            ], with: coder)
    }

    static func encode(_ entity: NSEntityDescription, with coder: NSCoder) {
        let document = document(describing: "The entity '\(entity.name ?? "")'") { try self.document(around: entity) }
        write(document, [entityKey: entity.name ?? ""], with: coder)
    }

    static func encode(_ property: NSPropertyDescription, with coder: NSCoder) {
        let document = document(describing: "The property '\(property.name)'") {
            try property.owningEntity.map(self.document(around:)) ?? self.document(of: property)
        }
        write(
            document, [entityKey: property.owningEntity?.name ?? standIn, propertyKey: property.name], with: coder)
    }

    static func encode(_ index: NSFetchIndexDescription, with coder: NSCoder) {
        let document = document(describing: "The index '\(index.name)'") {
            try index.entity.map(self.document(around:)) ?? self.document(of: index)
        }
        write(document, [entityKey: index.entity?.name ?? standIn, indexKey: index.name], with: coder)
    }

    static func encode(_ element: NSFetchIndexElementDescription, with coder: NSCoder) {
        let owner = NSFetchIndexDescription(name: standIn, elements: [element].compactMap(copy))
        let entity = element.indexDescription?.entity ?? element.property?.owningEntity
        let document = document(describing: "The index element '\(element.propertyName ?? "")'") {
            var document = try entity.map(self.document(around:)) ?? self.document(of: owner)
            if let place = document.entities.firstIndex(where: { $0.name == entity?.name }) {
                document.entities[place].fetchIndexes = [try ModelDisassembly.document(of: owner)]
            }
            return document
        }
        write(document, [entityKey: entity?.name ?? standIn, indexKey: standIn], with: coder)
    }

    private static func copy(_ element: NSFetchIndexElementDescription) -> NSFetchIndexElementDescription? {
        element.copy() as? NSFetchIndexElementDescription
    }

    private static func write(_ document: ModelDocument, _ values: [String: Any], with coder: NSCoder) {
        var list = values
        list[modelKey] = (try? CompiledModelWriter.write(document, form: .file)) ?? Data()
        let data = try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        coder.encode((data ?? Data()) as NSData, forKey: archiveKey)
    }

    /// - Precondition: none of the description's predicates is a block.
    private static func document(describing name: String, _ make: () throws -> ModelDocument) -> ModelDocument {
        do { return try make() } catch { preconditionFailure("\(name) cannot be archived: \(error)") }
    }

    // MARK: Parts of models

    /// Placeholder name of a missing entity or index.
    private static let standIn = "Archived"

    private static func document(around entity: NSEntityDescription) throws -> ModelDocument {
        if let model = entity.owningModel { return try ModelDisassembly.document(of: model) }
        return try document(of: entities(reachableFrom: [entity]))
    }

    private static func document(of property: NSPropertyDescription) throws -> ModelDocument {
        let destinations = [(property as? NSRelationshipDescription)?.destinationEntity].compactMap(\.self)
        var document = try document(of: entities(reachableFrom: destinations))
        var owner = EntityDocument(name: standIn)
        owner.properties = [try ModelDisassembly.document(of: property)].compactMap(\.self)
        document.entities.append(owner)
        return document
    }

    private static func document(of index: NSFetchIndexDescription) throws -> ModelDocument {
        var document = ModelDocument()
        var owner = EntityDocument(name: standIn)
        owner.fetchIndexes = [try ModelDisassembly.document(of: index)]
        for case let property? in index.elements.map(\.property) where !(property is NSExpressionDescription) {
            if let made = try ModelDisassembly.document(of: property), made.relationship == nil {
                owner.properties.append(made)
            }
        }
        document.entities = [owner]
        return document
    }

    private static func document(of entities: [NSEntityDescription]) throws -> ModelDocument {
        var document = ModelDocument()
        document.entities = try entities.map { try ModelDisassembly.document(of: $0) }
        return document
    }

    /// The entities and all that they reach: ancestors, descendants, destinations.
    private static func entities(reachableFrom entities: [NSEntityDescription]) -> [NSEntityDescription] {
        var found: [NSEntityDescription] = []
        var seen: Set<ObjectIdentifier> = []
        var waiting = entities
        while let entity = waiting.popLast() {
            guard seen.insert(ObjectIdentifier(entity)).inserted else { continue }
            found.append(entity)
            waiting += [entity.superentity].compactMap(\.self) + entity.subentities
            waiting += entity.ownProperties.compactMap { ($0 as? NSRelationshipDescription)?.destinationEntity }
        }
        return found
    }

    // MARK: Decoding

    /// Fills an empty model.
    ///
    /// - Returns: `false` if the archive does not contain a model.
    static func decode(_ model: NSManagedObjectModel, with coder: NSCoder) -> Bool {
        values(with: coder).map { fill(model, from: $0) } ?? false
    }

    private static func values(with coder: NSCoder) -> [String: Any]? {
        // Foundation stops the program if the key is missing.
        guard coder.containsValue(forKey: archiveKey),
            let data = coder.decodeObject(of: NSData.self, forKey: archiveKey) as Data?
        else { return nil }
        return try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    }

    private static func fill(_ model: NSManagedObjectModel, from values: [String: Any]) -> Bool {
        guard let data = values[modelKey] as? Data,
            let document = try? CompiledModelReader.read(data, file: "the archive").model,
            (try? ModelAssembly.fill(model, from: document, file: "the archive")) != nil
        else { return false }
        let hashes = values[hashesKey] as? [String: Data] ?? [:]
        for entity in model.entities { entity.writtenVersionHash = entity.name.flatMap { hashes[$0] } }
        if let localization = values[localizationKey] as? [String: String], !localization.isEmpty {
            model.localizationDictionary = localization
        }
        return true
    }

    /// The archived entity, in a model that keeps it alive.
    static func entity(with coder: NSCoder) -> (entity: NSEntityDescription, model: NSManagedObjectModel)? {
        values(with: coder).flatMap(entity(in:))
    }

    private static func entity(
        in values: [String: Any]
    ) -> (entity: NSEntityDescription, model: NSManagedObjectModel)? {
        let model = NSManagedObjectModel()
        guard fill(model, from: values), let name = values[entityKey] as? String,
            let entity = model.entitiesByName[name]
        else { return nil }
        return (entity, model)
    }

    /// The archived property, in a model that keeps it alive.
    static func property(with coder: NSCoder) -> (property: NSPropertyDescription, model: NSManagedObjectModel)? {
        guard let values = values(with: coder), let (entity, model) = entity(in: values),
            let name = values[propertyKey] as? String, let property = entity.propertiesByName[name]
        else { return nil }
        return (property, model)
    }

    /// The archived index.
    static func index(with coder: NSCoder) -> NSFetchIndexDescription? {
        guard let values = values(with: coder), let (entity, model) = entity(in: values),
            let name = values[indexKey] as? String
        else { return nil }
        return withExtendedLifetime(model) { entity.indexes.first { $0.name == name } }
    }
}
