import CoreData
import Foundation

/// Which properties others changed in records, as the store's history tells. A store without history tells nothing.
///
/// A list does not keep the old rows of records that it has not shown, so the records themselves may not know. Use it on
/// the context's queue.
final class ChangedKeyLog {
    private let context: NSManagedObjectContext
    private var token: NSPersistentHistoryToken?
    private var keys: [NSManagedObjectID: Set<String>] = [:]
    /// Those of the batch before. What is committed while a batch is told is read with it, and asked for with the next.
    private var olderKeys: [NSManagedObjectID: Set<String>] = [:]

    /// Begins with what is committed from now on.
    init(context: NSManagedObjectContext) {
        self.context = context
        token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    }

    /// Reads what was committed since the last time. One query.
    func update() throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        request.resultType = .transactionsAndChanges
        let result: NSPersistentHistoryResult?
        do {
            result = try context.execute(request) as? NSPersistentHistoryResult
        } catch let error as CocoaError where error.code.rawValue == NSPersistentHistoryTokenExpiredError {
            // What was removed is not told; what comes next is.
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

    /// Forgets what was not asked for in two batches: changes of records that are not in the list.
    func endBatch() { (olderKeys, keys) = (keys, [:]) }
}
