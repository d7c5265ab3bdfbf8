import CoreData
import Foundation

/// The store that the program works on, with its container.
///
/// Use on the main thread: everything is done in the container's view context.
final class StoreSession {
    /// How many seconds a save waits for a store that another program has locked.
    private static let patience: TimeInterval = 3

    let container: NSPersistentContainer
    let url: URL
    let isReadOnly: Bool
    private var unreadObserver: (any NSObjectProtocol)?
    private var mergeObserver: (any NSObjectProtocol)?

    var context: NSManagedObjectContext { container.viewContext }
    var model: NSManagedObjectModel { container.managedObjectModel }

    /// The entities whose records can be listed, by name.
    var entities: [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract && $0.name != nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    /// Opens a store. It tells of changes by other processes, so that the list is live; a store that keeps a history goes
    /// on keeping it, one that does not is not given tables that its owner never asked for.
    ///
    /// - Parameter modelURL: the model's file; without one, the model that the store itself carries.
    /// - Throws: what stands in the way, with one clear line.
    init(url: URL, modelURL: URL?, isReadOnly: Bool) throws {
        self.url = url
        let model = try Self.model(at: modelURL, forStore: url)
        // A model that was inferred does not know what a save has to keep up.
        let isReadOnly = isReadOnly || model.isInferred
        self.isReadOnly = isReadOnly
        container = NSPersistentContainer(
            name: url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = isReadOnly
        // A store of another version is told about, never changed unasked.
        description.shouldMigrateStoreAutomatically = false
        description.shouldInferMappingModelAutomatically = false
        description.timeout = Self.patience
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
        if let modelURL { return try NSManagedObjectModel(validContentsOf: modelURL) }
        do {
            return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        } catch let error as CocoaError where error.code.rawValue == 134_130 {
            return try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url)
        }
    }

    /// Lets go of the store, so that its file is whole by itself. Nothing of it may be used afterwards.
    func close() throws {
        context.reset()
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// How many records are inserted, changed or deleted and not saved.
    var unsavedCount: Int { UnsavedRecords.count(in: context) }

    /// Calls `tell` with the reason whenever records cannot be read: they look empty until they can.
    func observeUnreadRecords(_ tell: @escaping (any Error) -> Void) {
        // The context posts on its queue: the main thread, where the session is used.
        nonisolated(unsafe) let tell = tell
        unreadObserver = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidFailToFulfillFault, object: context, queue: nil
        ) { notification in
            if let error = notification.userInfo?[NSUnderlyingErrorKey] as? any Error { tell(error) }
        }
    }

    /// Calls `tell` whenever changes of other programs were merged into the context.
    func observeMerges(_ tell: @escaping () -> Void) {
        // As above: posted on the main thread.
        nonisolated(unsafe) let tell = tell
        mergeObserver = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
        ) { _ in tell() }
    }

    deinit {
        for observer in [unreadObserver, mergeObserver] {
            if let observer { NotificationCenter.default.removeObserver(observer) }
        }
    }
}

/// Which records have something to save.
enum UnsavedRecords {
    /// How many records of a context are inserted, changed or deleted.
    static func count(in context: NSManagedObjectContext) -> Int {
        context.insertedObjects.count + context.updatedObjects.count(where: isChangedItself)
            + context.deletedObjects.count
    }

    /// Whether a saved record was changed, and not only the records that point at it.
    static func isChangedItself(_ object: NSManagedObject) -> Bool {
        object.hasPersistentChangedValues
            && object.changedValues().keys.contains { key in
                guard let relationship = object.entity.relationshipsByName[key], relationship.isToMany else {
                    return true
                }
                return relationship.inverseRelationship?.isToMany ?? true
            }
    }
}
