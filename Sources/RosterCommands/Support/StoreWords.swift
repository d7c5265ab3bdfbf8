import CoreData
import Foundation

/// Completions for a shell, read from a store. They are empty if the store cannot be read.
public struct StoreWords {
    /// Greatest number of values offered.
    public static let greatestCount = 50

    private let location: StoreLocation
    private let model: NSManagedObjectModel

    /// Reads the model only.
    ///
    /// - Returns: `nil` if the store or model does not exist or cannot be read.
    public init?(_ location: StoreLocation) {
        guard let model = try? Self.model(of: location) else { return nil }
        self.location = location
        self.model = model
    }

    /// The model named by a location, or else the store's own.
    ///
    /// - Throws: ``CommandError``, or an error of the framework, if there is none.
    public static func model(of location: StoreLocation) throws -> NSManagedObjectModel {
        if let path = location.model { return try StoreModel.model(atPath: path) }
        let url = try location.storeURL()
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError.failure("no store at \(url.path)")
        }
        return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    }

    /// True if a file begins with SQLite's magic bytes.
    public static func looksLikeStore(_ path: String) -> Bool {
        StorePlace.isPlainFile(path) && StoreHeader.start(of: path) == Array("SQLite format 3\0".utf8)
    }

    /// The names of the entities, sorted.
    public var entities: [String] { model.entities.compactMap(\.name).sorted() }

    /// The key paths of an entity's attributes and of those of its to-one destinations.
    public func keyPaths(ofEntity name: String) -> [String] {
        guard let entity = model.entitiesByName[name] else { return [] }
        return attributes(of: entity)
            + entity.relationshipsByName.values.filter { !$0.isToMany }.sorted { $0.name < $1.name }.flatMap {
                relation in
                relation.destinationEntity.map { attributes(of: $0) }.map { $0.map { "\(relation.name).\($0)" } } ?? []
            }
    }

    /// Section kinds for an attribute's values, with their directions.
    public func sectionWords(ofKey keyPath: String, entity name: String) -> [String] {
        guard let entity = model.entitiesByName[name],
            let attribute = try? EntityKeys.attribute(at: keyPath, of: entity, for: "complete")
        else { return [] }
        let kinds =
            switch attribute.attributeType {
            case .dateAttributeType: ["year", "month", "week", "day"]
            case .stringAttributeType: ["letter"]
            default: attribute.isNumber ? ["bucket("] : []
            }
        return kinds + ["desc", "last"]
    }

    /// The names of all properties of an entity.
    public func keys(ofEntity name: String) -> [String] {
        (model.entitiesByName[name]?.propertiesByName.keys.map { $0 } ?? []).sorted()
    }

    /// The attribute that identifies records of an entity; `nil` if there is none or several.
    public func uniqueKey(ofEntity name: String) -> String? {
        let attributes = model.entitiesByName[name].flatMap { UniqueKey(of: $0) }?.attributes ?? []
        return attributes.count == 1 ? attributes[0].name : nil
    }

    /// Assignable values of a property that begin with a text: stored values of an attribute, or values that name
    /// destinations of a to-one relationship. Opens the store.
    public func assignableValues(ofKey key: String, entity name: String, beginningWith text: String) -> [String] {
        guard let relationship = model.entitiesByName[name]?.relationshipsByName[key] else {
            return values(ofKey: key, entity: name, beginningWith: text)
        }
        guard !relationship.isToMany, let destination = relationship.destinationEntity?.name,
            let key = uniqueKey(ofEntity: destination)
        else { return [] }
        return values(ofKey: key, entity: destination, beginningWith: text)
    }

    /// Stored values of an attribute that begin with a text, in order. Opens the store.
    public func values(ofKey keyPath: String, entity name: String, beginningWith text: String) -> [String] {
        guard let entity = model.entitiesByName[name],
            let attribute = try? EntityKeys.attribute(at: keyPath, of: entity, for: "complete")
        else { return [] }
        if attribute.attributeType == .booleanAttributeType {
            return ["false", "true"].filter { $0.hasPrefix(text) }
        }
        guard attribute.isOrderable, let url = try? location.storeURL() else { return [] }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, NSPersistentStoreTimeoutOption: 0.5,
        ]
        guard (try? coordinator.addPersistentStore(type: .sqlite, at: url, options: options)) != nil else { return [] }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSDictionary>()
        request.entity = entity
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [keyPath]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: keyPath, ascending: true)]
        if attribute.attributeType == .stringAttributeType {
            request.predicate = NSPredicate(format: "%K BEGINSWITH %@", keyPath, text)
            request.fetchLimit = Self.greatestCount
        }
        let rows = (try? context.performAndWait { try context.fetch(request) }) ?? []
        return rows.compactMap { row in
            guard let value = row[keyPath] else { return nil }
            let text = ValueText.shown(value, of: attribute)
            // Candidates are separated by lines.
            return text.isEmpty || text.contains(where: \.isNewline) ? nil : text
        }.filter { $0.hasPrefix(text) }.prefix(Self.greatestCount).map { $0 }
    }

    private func attributes(of entity: NSEntityDescription) -> [String] { entity.attributesByName.keys.sorted() }
}
