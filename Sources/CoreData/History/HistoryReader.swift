import Foundation

/// Reads the histories of stores and makes public objects of them.
struct HistoryReader {
    let coordinator: NSPersistentStoreCoordinator

    /// Carries out a history request. Cost: one query per store, and one object per transaction and change.
    ///
    /// - Throws: 134091 where none of the stores keeps a history.
    func execute(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
        let transactions = try transactions(for: request)
        let result: Any
        switch request.resultType {
        case .statusOnly:
            result = true
        case .count:
            result = transactions.count
        case .objectIDs:
            var seen: Set<NSManagedObjectID> = []
            result = transactions.flatMap { $0.changes ?? [] }.map(\.changedObjectID).filter {
                seen.insert($0).inserted
            }
        case .transactionsOnly:
            for transaction in transactions { transaction.changes = nil }
            result = transactions
        case .changesOnly:
            let changes = transactions.flatMap { $0.changes ?? [] }
            for change in changes { change.keepTransaction() }
            for transaction in transactions { transaction.changes = nil }
            result = changes
        case .transactionsAndChanges:
            result = transactions
        }
        return NSPersistentHistoryResult(result, type: request.resultType)
    }

    private func transactions(
        for request: NSPersistentHistoryChangeRequest
    ) throws -> [NSPersistentHistoryTransaction] {
        var found: [(store: NSPersistentStore, transaction: StoreTransaction)] = []
        try coordinator.withLock {
            let stores = try storesWithHistory(request.affectedStores)
            for store in stores {
                let number = request.token?.number(ofStore: store.identifier) ?? 0
                found += try store.operations.history(after: number).map { (store, $0) }
            }
        }
        if case .date(let date) = request.start { found.removeAll { $0.transaction.timestamp <= date } }
        found.sort { left, right in
            (left.transaction.timestamp, left.transaction.number)
                < (right.transaction.timestamp, right.transaction.number)
        }
        var numbers = request.token?.numbers ?? [:]
        return found.map { store, transaction in
            let identifier = store.identifier ?? ""
            numbers[identifier] = max(numbers[identifier] ?? 0, transaction.number)
            return object(for: transaction, of: store, token: NSPersistentHistoryToken(numbers: numbers))
        }
    }

    private func storesWithHistory(_ affected: [NSPersistentStore]?) throws -> [NSPersistentStore] {
        let stores = affected ?? coordinator.persistentStores
        let withHistory = try stores.filter { try $0.operations.lastHistoryNumber() != nil }
        guard withHistory.isEmpty else { return withHistory }
        let places = stores.map { $0.url?.path ?? "" }.joined(separator: ", ")
        throw CoreDataError.make(
            134091, "No history is kept in \(places); add the store with NSPersistentHistoryTrackingKey.")
    }

    private func object(
        for transaction: StoreTransaction, of store: NSPersistentStore, token: NSPersistentHistoryToken
    ) -> NSPersistentHistoryTransaction {
        let made = NSPersistentHistoryTransaction(transaction, storeID: store.identifier ?? "", token: token)
        made.changes = transaction.changes.map { change in
            let object = NSPersistentHistoryChange(change, id: store.operations.objectID(for: change.key))
            object.transaction = made
            return object
        }
        return made
    }
}

extension NSPersistentStoreCoordinator {
    /// The place in the histories of `stores` after the last transaction of each; `nil` or an empty array means all
    /// stores of the coordinator.
    ///
    /// - Returns: `nil` where none of the stores keeps a history, or one cannot be read.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let named = (stores ?? []).compactMap { $0 as? NSPersistentStore }
        return withLock {
            var numbers: [String: Int64] = [:]
            for store in named.isEmpty ? persistentStores : named {
                guard let last = try? store.operations.lastHistoryNumber() else { continue }
                numbers[store.identifier ?? ""] = last
            }
            return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers: numbers)
        }
    }
}

extension NSPersistentHistoryChangeRequest: ContextExecutable {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        try HistoryReader(coordinator: try context.fetchPipeline.coordinator).execute(self)
    }
}
