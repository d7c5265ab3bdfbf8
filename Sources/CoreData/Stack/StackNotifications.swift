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

/// The key, in stores-did-change, of an array of the stores that were added.
public let NSAddedPersistentStoresKey = "added"
/// The key, in stores-did-change, of an array of the stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"
/// The key, in stores-did-change, of an array of the old store, the new one, and the new object IDs, if a store was
/// saved as another one and so got another UUID.
public let NSUUIDChangedPersistentStoresKey = "changedUUID"
/// The key, in remote-change, of the store's URL.
public let NSPersistentStoreURLKey = "storeURL"
/// The key, in remote-change, of the `NSPersistentHistoryToken` of the last transaction.
public let NSPersistentHistoryTokenKey = "historyToken"
