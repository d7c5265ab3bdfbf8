import CoreData
import Foundation

/// The store that the program works on, with its container.
///
/// Use on the main thread: everything is done in the container's view context.
final class StoreSession {
    let container: NSPersistentContainer
    let url: URL
    let isReadOnly: Bool

    var context: NSManagedObjectContext { container.viewContext }
    var model: NSManagedObjectModel { container.managedObjectModel }

    /// The entities whose records can be listed, by name.
    var entities: [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract && $0.name != nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    /// Opens a store. It keeps history and tells of changes by other processes, so that the list is live.
    ///
    /// - Parameter modelURL: the model's file; without one, the model that the store itself carries.
    /// - Throws: what stands in the way, with one clear line.
    init(url: URL, modelURL: URL?, isReadOnly: Bool) throws {
        self.url = url
        self.isReadOnly = isReadOnly
        let model = try Self.model(at: modelURL, forStore: url)
        container = NSPersistentContainer(
            name: url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = isReadOnly
        // A store of another version is told about, never changed unasked.
        description.shouldMigrateStoreAutomatically = false
        description.shouldInferMappingModelAutomatically = false
        if !isReadOnly { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        context.automaticallyMergesChangesFromParent = true
        context.name = "roster"
        context.transactionAuthor = "roster"
        context.undoManager = UndoManager()
    }

    private static func model(at modelURL: URL?, forStore url: URL) throws -> NSManagedObjectModel {
        guard let modelURL else { return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) }
        guard let model = NSManagedObjectModel(contentsOf: modelURL) else {
            throw CocoaError(
                .fileReadCorruptFile,
                userInfo: [NSLocalizedDescriptionKey: "\(modelURL.path) cannot be read as a model"])
        }
        return model
    }

    /// How many records are inserted, changed or deleted and not saved.
    var unsavedCount: Int {
        context.insertedObjects.count + context.updatedObjects.count { $0.hasPersistentChangedValues }
            + context.deletedObjects.count
    }
}
