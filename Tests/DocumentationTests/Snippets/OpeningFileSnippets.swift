import CoreData
import Testing

/// The code of `OpeningAnAppsFile.md`, compiled and run.
@MainActor @Suite struct OpeningFileSnippets {
    /// A closed store of an app, without its model.
    private func file(_ folder: TemporaryFolder) throws -> URL {
        let url = folder.url.appendingPathComponent("App.sqlite")
        let container = try NSPersistentContainer.open("Journal", at: url)
        let entry = Entry(context: container.viewContext)
        entry.title = "Porto"
        entry.written = Date()
        try container.viewContext.save()
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        return url
    }

    @Test func aStoreContainsItsModel() throws {
        let folder = try TemporaryFolder()
        let fileURL = try file(folder)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: fileURL)
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: fileURL)
        print(metadata[NSStoreUUIDKey] ?? "", model.entities.map { $0.name ?? "" })

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            type: .sqlite, at: fileURL, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        for object in try context.fetch(request) { print(object.value(forKey: "title") ?? "") }
        #expect(try context.count(for: request) == 1)
        #expect(model.entitiesByName["Journal"] != nil)
    }
}
