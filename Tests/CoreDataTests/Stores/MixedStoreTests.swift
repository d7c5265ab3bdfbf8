import CoreData
import Foundation
import StoreConformance
import Testing

/// One model over several stores of different types, each with its own configuration.
@Suite struct MixedStoreTests {
    private static let types: [NSPersistentStore.StoreType] = [
        .sqlite, .xml, .binary, .inMemory, PropertyListStore.type, DocumentStore.type,
    ]

    private static let names = types.indices.map { "E\($0)" }

    /// An entity for each store, in a configuration of the same name.
    private static func model() -> NSManagedObjectModel {
        let entities = names.map { entityName in
            let entity = NSEntityDescription()
            entity.name = entityName
            let name = NSAttributeDescription()
            (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, false)
            entity.properties = [name]
            return entity
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        for entity in entities { model.setEntities([entity], forConfigurationName: entity.name ?? "") }
        return model
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mixed-\(UUID().uuidString)")

    private func open() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        for (name, type) in zip(Self.names, Self.types) {
            try coordinator.addPersistentStore(
                type: type, configuration: name, at: folder.appendingPathComponent(name))
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func count(_ context: NSManagedObjectContext) throws -> [Int] {
        try Self.names.map { name in
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.predicate = NSPredicate(format: "name BEGINSWITH 'n'")
            return try context.count(for: request)
        }
    }

    @Test func eachObjectGoesIntoItsStoreAndComesBack() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = try open()
        try context.performAndWait {
            for (number, name) in Self.names.enumerated() {
                for copy in 0...number { _ = context.make(name, named: "n \(copy)") }
            }
            try context.save()
            for object in context.registeredObjects {
                #expect(object.objectID.persistentStore?.configurationName == object.entity.name)
            }
            context.reset()
            #expect(try count(context) == [1, 2, 3, 4, 5, 6])
            // If one store refuses a value, the others are not written.
            _ = context.make("E0", named: "n")
            _ = NSEntityDescription.insertNewObject(forEntityName: "E2", into: context)
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            #expect(try count(context) == [1, 2, 3, 4, 5, 6])
        }
        let stores = context.persistentStoreCoordinator?.persistentStores ?? []
        try context.performAndWait {
            context.reset()
            for store in stores { try context.persistentStoreCoordinator?.remove(store) }
        }
        // In-memory stores are lost with their coordinator.
        let again = try open()
        let kept = try again.performAndWait { try count(again) }
        #expect(kept == [1, 2, 3, 0, 5, 6])
    }
}
