import CoreData
import Testing

/// A folder with a store, and helpers that create models, for tests of migrations.
@MainActor
final class MigrationDesk {
    let folder: URL
    var url: URL { folder.appendingPathComponent("App.sqlite") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("migration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    // MARK: Models

    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, was: String? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.renamingIdentifier = was
        return attribute
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    static func relate(
        _ from: NSEntityDescription, _ name: String, many: Bool = false, ordered: Bool = false,
        _ to: NSEntityDescription, _ back: String
    ) {
        let there = NSRelationshipDescription()
        there.name = name
        there.destinationEntity = to
        there.maxCount = many ? 0 : 1
        there.isOrdered = ordered
        there.isOptional = true
        let inverse = NSRelationshipDescription()
        inverse.name = back
        inverse.destinationEntity = from
        inverse.maxCount = 1
        inverse.isOptional = true
        there.inverseRelationship = inverse
        inverse.inverseRelationship = there
        from.properties += [there]
        to.properties += [inverse]
    }

    static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    // MARK: Stores

    func open(
        _ model: NSManagedObjectModel, at url: URL? = nil, type: String = NSSQLiteStoreType,
        options: [String: NSObject] = [:]
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "App", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url ?? self.url)
        description.type = type
        for (key, value) in options { description.setOption(value, forKey: key) }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    func close(_ container: NSPersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        container.viewContext.reset()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Creates the store with a version of the model, fills it and closes it.
    func make(_ model: NSManagedObjectModel, _ fill: (NSManagedObjectContext) throws -> Void) throws {
        let container = try open(model)
        try fill(container.viewContext)
        try container.viewContext.save()
        try close(container)
    }

    @discardableResult
    func insert(_ name: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func all(_ name: String, _ context: NSManagedObjectContext, by key: String) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try context.fetch(request)
    }
}
