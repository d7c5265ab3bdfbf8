import CoreData
import Testing

/// Stores of the type `NSInMemoryStoreType`, as used in tests of apps. Uses only the public interface.
@MainActor @Suite struct InMemoryStoreTests {
    private func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        let age = NSAttributeDescription()
        age.name = "age"
        age.attributeType = .integer32AttributeType
        age.defaultValue = 0
        let person = NSEntityDescription()
        person.name = "Person"
        person.properties = [name, age]
        person.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private func container(url: URL? = nil) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "People", managedObjectModel: model())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        if let url { description.url = url }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    private func insert(_ names: [String], into context: NSManagedObjectContext) throws {
        for (age, name) in names.enumerated() {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "name")
            person.setValue(age, forKey: "age")
        }
        try context.save()
    }

    @Test func contextsOfAContainerShareTheRows() throws {
        let container = try container()
        try insert(["Ann", "Bo", "Çelik", "李雷", "🏆"], into: container.viewContext)
        let background = container.newBackgroundContext()
        let found = try background.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "age > 1 AND name != %@", "🏆")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            return try background.fetch(request).map { $0.value(forKey: "name") as? String }
        }
        #expect(found == ["李雷", "Çelik"])
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.type == NSInMemoryStoreType)
        #expect(
            container.persistentStoreCoordinator.metadata(for: store)[NSStoreTypeKey] as? String == NSInMemoryStoreType)
    }

    @Test func eachStoreIsItsOwn() throws {
        let first = try container()
        let second = try container()
        try insert(["Ann"], into: first.viewContext)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        #expect(try first.viewContext.count(for: request) == 1)
        #expect(try second.viewContext.count(for: request) == 0)
    }

    @Test func aFileAtTheURLIsNotChanged() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("memory-\(UUID().uuidString)")
        try Data("mine".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let container = try container(url: file)
        try insert(["Ann"], into: container.viewContext)
        let coordinator = container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        #expect(store.url == file)
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: file, ofType: NSInMemoryStoreType)
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSInMemoryStoreType, at: file)
        }
    }

    @Test func constraintsAndConflictsAreThoseOfStoresOnDisk() throws {
        let container = try container()
        try insert(["Ann"], into: container.viewContext)
        let context = container.newBackgroundContext()
        context.performAndWait {
            let error = #expect(throws: CocoaError.self) { try insert(["Ann"], into: context) }
            #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            #expect(throws: Never.self) { try context.save() }
        }
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
    }

    @Test func theStoreMovesToAFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("memory-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try container()
        try insert(["Ann", "Bo"], into: container.viewContext)
        let coordinator = container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        let file = folder.appendingPathComponent("People.sqlite")
        let moved = try coordinator.migratePersistentStore(store, to: file, type: .sqlite)
        #expect(moved.type == NSSQLiteStoreType && FileManager.default.fileExists(atPath: file.path))
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
    }
}
