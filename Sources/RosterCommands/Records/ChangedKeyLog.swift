import CoreData
import Foundation

/// Keys of properties that others changed in records, read from the store's history. Empty for a store without history.
///
/// A list does not keep the old rows of records that it has not shown, so objects may not know their changed keys. Use
/// it on the context's queue.
final class ChangedKeyLog {
    private let context: NSManagedObjectContext
    private var token: NSPersistentHistoryToken?
    private var keys: [NSManagedObjectID: Set<String>] = [:]
    /// Keys of the previous batch. A commit that arrives while a batch is reported is read with it and used for the
    /// next.
    private var olderKeys: [NSManagedObjectID: Set<String>] = [:]

    /// Creates a log that begins with the next commit.
    init(context: NSManagedObjectContext) {
        self.context = context
        token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    }

    /// Reads the commits since the last call. One query.
    func update() throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        request.resultType = .transactionsAndChanges
        let result: NSPersistentHistoryResult?
        do {
            result = try context.execute(request) as? NSPersistentHistoryResult
        } catch let error as CocoaError where error.code.rawValue == NSPersistentHistoryTokenExpiredError {
            // Skips the removed transactions and continues with the next one.
            token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
            return
        }
        for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
            token = transaction.token
            for change in transaction.changes ?? [] where change.changeType == .update {
                keys[change.changedObjectID, default: []].formUnion(change.updatedProperties?.map(\.name) ?? [])
            }
        }
    }

    /// Keys that changed in a record since the last call, sorted.
    func takeKeys(of object: NSManagedObject) -> [String] {
        var result = Set(object.changedValuesForCurrentEvent().keys)
        result.formUnion(keys.removeValue(forKey: object.objectID) ?? [])
        result.formUnion(olderKeys.removeValue(forKey: object.objectID) ?? [])
        return result.sorted()
    }

    /// Removes keys that were not asked for in two batches: those of records that are not in the list.
    func endBatch() { (olderKeys, keys) = (keys, [:]) }
}
