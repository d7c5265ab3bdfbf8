import CoreData
import Foundation

/// The store that the program works on, with its container.
///
/// Use on the main thread: everything is done in the container's view context. The verbs have another class of this name,
/// which opens a store for one command.
final class StoreSession {
    let container: NSPersistentContainer
    /// Where the store is; changes where the program follows a file that was moved.
    var url: URL
    let isReadOnly: Bool
    /// How many records the entities have.
    let counts: EntityCounts
    /// How many they had when the store was opened, by name, up to ``OpenedStore/mostCounted``; empty where that was not asked.
    let sizes: [String: Int]
    /// Counts up whenever records may look otherwise than before.
    private(set) var revision = 0
    private var changeObservers: [any NSObjectProtocol] = []
    private var unreadObserver: (any NSObjectProtocol)?
    private var mergeObserver: (any NSObjectProtocol)?
    private var lossObserver: (any NSObjectProtocol)?

    var context: NSManagedObjectContext { container.viewContext }
    var model: NSManagedObjectModel { container.managedObjectModel }

    /// The entities whose records can be listed, by name.
    var entities: [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract && $0.name != nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    /// Takes over a store that was opened, on the main thread.
    // SAFETY: the context posts on its queue, the main thread, where the session is used.
    init(_ opened: OpenedStore) {
        url = opened.url
        isReadOnly = opened.isReadOnly
        container = opened.container
        sizes = opened.sizes
        counts = EntityCounts(sizes.filter { $0.value < OpenedStore.mostCounted })
        context.automaticallyMergesChangesFromParent = true
        context.name = "roster"
        context.transactionAuthor = "roster"
        context.undoManager = UndoManager()
        for name in [
            NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
            NSManagedObjectContext.didMergeChangesObjectIDsNotification,
        ] {
            // The context posts on its queue: the main thread, where the session is used.
            nonisolated(unsafe) weak let session = self
            changeObservers.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
                    session?.revision += 1
                })
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
    // SAFETY: the context posts on its queue, the main thread, which made the closure.
    func observeUnreadRecords(_ tell: @escaping (any Error) -> Void) {
        // The context posts on its queue: the main thread, where the session is used.
        nonisolated(unsafe) let tell = tell
        unreadObserver = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidFailToFulfillFault, object: context, queue: nil
        ) { notification in
            if let error = notification.userInfo?[NSUnderlyingErrorKey] as? any Error { tell(error) }
        }
    }

    /// Calls `tell` with the changed records whenever changes of other programs were merged into the context.
    // SAFETY: the context posts on its queue, the main thread, which made the closure.
    func observeMerges(_ tell: @escaping (Set<NSManagedObjectID>) -> Void) {
        // As above: posted on the main thread.
        nonisolated(unsafe) let tell = tell
        mergeObserver = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
        ) { tell($0.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> ?? []) }
    }

    /// Calls `tell` when the store's file is found not to be in its place any more.
    // SAFETY: the closure is called on the main thread, which made it.
    func observeLoss(_ tell: @escaping () -> Void) {
        // Called on the main queue alone.
        nonisolated(unsafe) let tell = tell
        lossObserver = NotificationCenter.default.addObserver(
            forName: NSPersistentStoreCoordinator.storeFileDidVanishNotification,
            object: container.persistentStoreCoordinator, queue: nil
        ) { _ in DispatchQueue.main.async { tell() } }
    }

    deinit {
        for observer in changeObservers + [unreadObserver, mergeObserver, lossObserver].compactMap({ $0 }) {
            NotificationCenter.default.removeObserver(observer)
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
