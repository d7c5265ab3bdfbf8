import CoreData

/// A container with store descriptions that are set before the stores are loaded.
@MainActor final class PersistenceController {
    let container: NSPersistentContainer

    init(modelName: String, storeURL: URL? = nil) {
        container = NSPersistentContainer(name: modelName)
        let description =
            storeURL.map { NSPersistentStoreDescription(url: $0) } ?? container.persistentStoreDescriptions.first
        if let description {
            description.type = NSSQLiteStoreType
            description.shouldMigrateStoreAutomatically = true
            description.shouldInferMappingModelAutomatically = true
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            container.persistentStoreDescriptions = [description]
        }
        container.loadPersistentStores { storeDescription, error in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo) with \(storeDescription)")
            }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    }
}
