import Foundation

/// The queue that a context uses.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// The context works on a private queue.
    case privateQueueConcurrencyType = 1
    /// The context works on the main queue.
    case mainQueueConcurrencyType = 2

    /// The type for the calling thread: that of the main queue on the main thread, else that of a private queue.
    @available(*, deprecated, message: "Use privateQueueConcurrencyType or mainQueueConcurrencyType.")
    public static var confinementConcurrencyType: Self {
        Thread.isMainThread ? .mainQueueConcurrencyType : .privateQueueConcurrencyType
    }
}

extension NSManagedObjectContext {
    /// The queue that a context uses, under the names of newer source.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        /// The type under its older name.
        public let rawValue: NSManagedObjectContextConcurrencyType
        /// Creates the type from its older name.
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }

        /// The context works on the main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
        /// The context works on a private queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
    }

    /// The time at which a block passed to `perform(schedule:_:)` runs.
    public enum ScheduledTaskType: Sendable {
        /// Runs the block in place if the caller is on the queue, otherwise like `enqueued`.
        case immediate
        /// Runs the block after the work that is already in the queue.
        case enqueued
    }

    /// The keys of the user info of a context's notifications.
    public enum NotificationKey: String, Sendable {
        /// A set of inserted objects.
        case insertedObjects = "inserted"
        /// A set of updated objects.
        case updatedObjects = "updated"
        /// A set of deleted objects.
        case deletedObjects = "deleted"
        /// A set of refreshed objects.
        case refreshedObjects = "refreshed"
        /// A set of invalidated objects.
        case invalidatedObjects = "invalidated"
        /// An array of the IDs of all objects, after a reset or when a store is removed.
        case invalidatedAllObjects = "invalidatedAll"
        /// A set of the IDs of inserted objects.
        case insertedObjectIDs = "inserted_objectIDs"
        /// A set of the IDs of updated objects.
        case updatedObjectIDs = "updated_objectIDs"
        /// A set of the IDs of deleted objects.
        case deletedObjectIDs = "deleted_objectIDs"
        /// A set of the IDs of refreshed objects.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// A set of the IDs of invalidated objects.
        case invalidatedObjectIDs = "invalidated_objectIDs"
        /// In did-save of a pinned context: the `NSQueryGenerationToken` of the state that it reads from then on.
        case queryGeneration = "newQueryGeneration"
    }

    /// A context (the object) is about to save; changes may still be made. No user info.
    public static let willSaveObjectsNotification = Notification.Name("NSManagingContextWillSaveChangesNotification")
    /// A context (the object) saved: sets of objects under `inserted`, `updated`, `deleted`.
    public static let didSaveObjectsNotification = Notification.Name("NSManagingContextDidSaveChangesNotification")
    /// Objects of a context (the object) changed: sets of objects under `inserted`, `updated`, `deleted`, `refreshed`,
    /// or an array of IDs under `invalidatedAll`. Absent keys mean none.
    public static let didChangeObjectsNotification = Notification.Name("NSObjectsChangedInManagingContextNotification")
    /// A context (the object) saved: sets of IDs, safe to pass to another thread.
    public static let didSaveObjectIDsNotification = Notification.Name(
        "NSManagedObjectContextDidSaveObjectIDsNotification")
    /// A context (the object) merged changes that were saved elsewhere: sets of IDs.
    public static let didMergeChangesObjectIDsNotification = Notification.Name(
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}

extension NSNotification.Name {
    /// The older name of `NSManagedObjectContext.willSaveObjectsNotification`.
    public static let NSManagedObjectContextWillSave = NSManagedObjectContext.willSaveObjectsNotification
    /// The older name of `NSManagedObjectContext.didSaveObjectsNotification`.
    public static let NSManagedObjectContextDidSave = NSManagedObjectContext.didSaveObjectsNotification
    /// The older name of `NSManagedObjectContext.didChangeObjectsNotification`.
    public static let NSManagedObjectContextObjectsDidChange = NSManagedObjectContext.didChangeObjectsNotification
    /// The older name of `NSManagedObjectContext.didSaveObjectIDsNotification`.
    public static let NSManagedObjectContextDidSaveObjectIDs = NSManagedObjectContext.didSaveObjectIDsNotification
    /// The older name of `NSManagedObjectContext.didMergeChangesObjectIDsNotification`.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs =
        NSManagedObjectContext.didMergeChangesObjectIDsNotification
}

/// The key of the set of inserted objects in notifications of contexts.
public let NSInsertedObjectsKey = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
/// The key of the set of updated objects in notifications of contexts.
public let NSUpdatedObjectsKey = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
/// The key of the set of deleted objects in notifications of contexts.
public let NSDeletedObjectsKey = NSManagedObjectContext.NotificationKey.deletedObjects.rawValue
/// The key of the set of refreshed objects in notifications of contexts.
public let NSRefreshedObjectsKey = NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue
/// The key of the set of invalidated objects in notifications of contexts.
public let NSInvalidatedObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue
/// The key of the array of the IDs of all objects, after a reset or when a store is removed, in did-change
/// notifications.
public let NSInvalidatedAllObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue
/// The key of the set of IDs of inserted objects in notifications of contexts.
public let NSInsertedObjectIDsKey = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
/// The key of the set of IDs of updated objects in notifications of contexts.
public let NSUpdatedObjectIDsKey = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
/// The key of the set of IDs of deleted objects in notifications of contexts.
public let NSDeletedObjectIDsKey = NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
/// The key of the set of IDs of refreshed objects in notifications of contexts.
public let NSRefreshedObjectIDsKey = NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue
/// The key of the query generation that a pinned context reads from now on, in did-save notifications.
public let NSManagedObjectContextQueryGenerationKey = NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
/// The key of the set of IDs of invalidated objects in notifications of contexts.
public let NSInvalidatedObjectIDsKey = NSManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue
