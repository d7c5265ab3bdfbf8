import CoreData
import Foundation

/// What a shell may complete from a store's model. It reads the model only, and answers nothing where it cannot.
public struct StoreWords {
    private let model: NSManagedObjectModel

    /// - Returns: `nil` where there is no such store or model, or it cannot be read.
    public init?(_ location: StoreLocation) {
        guard let model = Self.model(at: location) else { return nil }
        self.model = model
    }

    private static func model(at location: StoreLocation) -> NSManagedObjectModel? {
        if let path = location.model { return try? StoreModel.model(atPath: path) }
        guard let url = try? location.storeURL(), FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    }

    public var entities: [String] { model.entities.compactMap(\.name).sorted() }

    /// The key paths of an entity's attributes, and of those behind its to-one relationships.
    public func keyPaths(ofEntity name: String) -> [String] {
        guard let entity = model.entitiesByName[name] else { return [] }
        return attributes(of: entity)
            + entity.relationshipsByName.values.filter { !$0.isToMany }.sorted { $0.name < $1.name }.flatMap {
                relation in
                relation.destinationEntity.map { attributes(of: $0) }.map { $0.map { "\(relation.name).\($0)" } } ?? []
            }
    }

    /// The names of all properties of an entity.
    public func keys(ofEntity name: String) -> [String] {
        (model.entitiesByName[name]?.propertiesByName.keys.map { $0 } ?? []).sorted()
    }

    private func attributes(of entity: NSEntityDescription) -> [String] { entity.attributesByName.keys.sorted() }
}
