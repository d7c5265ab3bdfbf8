import Foundation

extension NSNotification.Name {
    /// The stores of a coordinator (the object) are about to change.
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")

    /// The stores of a coordinator (the object) changed. User info: `NSAddedPersistentStoresKey`,
    /// `NSRemovedPersistentStoresKey`.
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")

    /// A store (the object) is about to be removed from its coordinator.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")

    /// This process or another wrote to a store of the coordinator (the object).
    ///
    /// Posted on any thread, for stores added with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. User
    /// info: `NSStoreUUIDKey`, `NSPersistentStoreURLKey` and, if the store keeps a history,
    /// `NSPersistentHistoryTokenKey`.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// In stores-did-change: an array of the stores that were added.
public let NSAddedPersistentStoresKey = "added"
/// In stores-did-change: an array of the stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"
/// In stores-did-change: the old store and the new one, if a store's UUID changed.
public let NSUUIDChangedPersistentStoresKey = "changedUUID"
/// In remote-change: the URL of the store.
public let NSPersistentStoreURLKey = "storeURL"
/// In remote-change: the `NSPersistentHistoryToken` of the last transaction.
public let NSPersistentHistoryTokenKey = "historyToken"
