import Foundation
import PredicateSyntax

extension NSManagedObjectContext {
    /// Merges the changes of a notification that were saved elsewhere: did-save, did-save-object-IDs, or one made from
    /// the history. Local changes stay on top. Call it on the context's queue.
    public func mergeChanges(fromContextDidSave notification: Notification) {
        requireQueue("mergeChanges(fromContextDidSave:)")
        merger.merge(ChangeNotification.changes(in: notification.userInfo ?? [:], for: self))
    }

    /// Merges into several contexts changes that were saved elsewhere without a notification: the result of a batch
    /// request, or a report of another process.
    ///
    /// A parent merges before its children, which then read its values.
    ///
    /// - Parameters:
    ///   - changeNotificationData: the keys of did-save or did-save-object-IDs; the values are arrays or sets of
    ///     `NSManagedObjectID`s, objects, or URLs of IDs.
    ///   - contexts: the contexts that merge the changes, each on its queue.
    public class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        let data = UncheckedSendable(changeNotificationData)
        for context in contexts.sorted(by: { $0.depth < $1.depth }) {
            context.performAndWait {
                _ = context.merger.merge(ChangeNotification.changes(in: data.value, for: context))
            }
        }
    }
}

/// Reads the user info of did-save and similar notifications.
enum ChangeNotification {
    static func changes(in info: [AnyHashable: Any], for context: NSManagedObjectContext) -> CommittedChanges {
        func ids(_ keys: String...) -> [NSManagedObjectID] {
            var seen: Set<NSManagedObjectID> = []
            return keys.flatMap { elements(of: info[$0]) }.compactMap { id(of: $0, in: context)?.latest }
                .filter { context.source?.mayHold($0) ?? false && seen.insert($0).inserted }
        }
        return CommittedChanges(
            inserted: ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
            updated: ids(
                NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey),
            deleted: ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey))
    }

    private static func elements(of value: Any?) -> [Any] {
        value.flatMap { SetElements.of($0) ?? $0 as? [Any] } ?? []
    }

    private static func id(of element: Any, in context: NSManagedObjectContext) -> NSManagedObjectID? {
        switch element {
        case let id as NSManagedObjectID: id
        case let object as NSManagedObject: object.objectID
        case let url as URL: context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url)
        case let url as NSURL:
            (url as URL).scheme == nil
                ? nil
                : context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url as URL)
        default: nil
        }
    }
}
