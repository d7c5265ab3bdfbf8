import CoreData
import Foundation
import StoreConformance
import Testing

/// A migration manager migrates stores of every type to another version of their model.
@Suite struct StoreTypeMigrationTests {
    private static let kept = StoreConformanceTests.types.filter { $0 != .inMemory }

    @Test(arguments: kept) func rowsGoIntoAStoreOfAnotherVersion(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        try stack.inContext { context in
            let author = context.make("Author", named: "Ada")
            let books = ["C", "A"].map { context.make("Novel", named: $0, "title") }
            author.setValue(NSOrderedSet(array: books), forKey: "books")
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        let next = StoreConformance.library()
        let rank = NSAttributeDescription()
        rank.name = "rank"
        rank.attributeType = .integer64AttributeType
        rank.isOptional = false
        rank.defaultValue = 7
        try #require(next.entitiesByName["Author"]).properties.append(rank)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: stack.model, destinationModel: next)
        for target in Self.kept {
            let url = stack.folder.appendingPathComponent("\(target.rawValue).next")
            let manager = NSMigrationManager(sourceModel: stack.model, destinationModel: next)
            try manager.migrateStore(
                from: stack.url, type: type, options: nil, mapping: mapping, to: url, type: target, options: nil)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: next)
            try coordinator.addPersistentStore(type: target, at: url)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let author = try #require(try context.all("Author").first)
                #expect(author.value(forKey: "rank") as? Int == 7)
                #expect(author.texts("books", "title") == ["C", "A"])
            }
            // The old model does not open the migrated store.
            let old = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            #expect {
                try old.addPersistentStore(type: target, at: url)
            } throws: {
                ($0 as NSError).code == 134100
            }
        }
    }
}
