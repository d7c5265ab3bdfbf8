import Foundation

/// Reads the histories of stores and creates their public objects.
struct HistoryReader {
    let coordinator: NSPersistentStoreCoordinator

    /// Executes a history request. Cost: one query per store, and one object per transaction and change.
    ///
    /// - Throws: 134091 if none of the stores keeps a history; 134301 if history before the token was removed; 134501
    ///   for a token of other stores; 134060 for a fetch request of another entity; 513 for a removal from a
    ///   read-only store.
    func execute(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
        if let token = request.token { try check(token) }
        if request.removes { return try remove(request) }
        let selection = try request.fetchRequest.map { try HistorySelection($0, check: check) }
        var transactions = try transactions(for: request, withChanges: wantsChanges(request))
        if let selection { transactions = selection.chosen(from: transactions) }
        let result: Any
        switch request.resultType {
        case .statusOnly:
            result = true
        case .count:
            let isOfChanges = selection?.isOfChanges ?? false
            result = isOfChanges ? transactions.reduce(0) { $0 + ($1.changes?.count ?? 0) } : transactions.count
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

    /// Checks that a token belongs to the coordinator's stores.
    ///
    /// - Throws: 134501 for a token that does not contain any store of the coordinator.
    private func check(_ token: NSPersistentHistoryToken) throws {
        let stores = coordinator.rowStores
        guard !token.numbers.isEmpty, !stores.contains(where: { token.numbers[$0.identifier ?? ""] != nil }) else {
            return
        }
        let named = token.numbers.keys.sorted().joined(separator: ", ")
        let places = stores.map(\.placeName).joined(separator: ", ")
        throw CoreDataError.make(
            134501,
            "Unable to find the stores of the history token (\(named)): it belongs to other stores than \(places), "
                + "or one was replaced. Read the store again and continue from currentPersistentHistoryToken(fromStores:)."
        )
    }

    /// True if the request needs changes. Its fetch request may read the changes of transactions too.
    private func wantsChanges(_ request: NSPersistentHistoryChangeRequest) -> Bool {
        switch request.resultType {
        case .statusOnly, .count, .transactionsOnly: request.fetchRequest != nil
        case .objectIDs, .changesOnly, .transactionsAndChanges: true
        }
    }

    private func transactions(
        for request: NSPersistentHistoryChangeRequest, withChanges: Bool
    ) throws -> [NSPersistentHistoryTransaction] {
        var found: [(store: any RowStore, transaction: StoreTransaction)] = []
        try coordinator.withLock {
            for store in try storesWithHistory(request.affectedStores) {
                guard let number = try place(of: request, in: store) else { continue }
                found += try store.operations.history(after: number, withChanges: withChanges).map { (store, $0) }
                // Another process may have removed transactions in between, which would be missing from the result.
                _ = try place(of: request, in: store)
            }
        }
        if case .date(let date) = request.start { found.removeAll { $0.transaction.timestamp <= date } }
        found = Self.inOrderOfTime(found)
        var numbers = request.token?.numbers ?? [:]
        return found.map { store, transaction in
            let identifier = store.identifier ?? ""
            numbers[identifier] = max(numbers[identifier] ?? 0, transaction.number)
            return object(for: transaction, of: store, token: NSPersistentHistoryToken(numbers: numbers))
        }
    }

    /// Orders transactions by time. Those of one store stay in order of their numbers, even if a clock was set back,
    /// because a token covers all numbers up to its own.
    private static func inOrderOfTime(
        _ found: [(store: any RowStore, transaction: StoreTransaction)]
    ) -> [(store: any RowStore, transaction: StoreTransaction)] {
        var latest: [ObjectIdentifier: Date] = [:]
        let times = found.map { store, transaction in
            let time = max(latest[ObjectIdentifier(store)] ?? .distantPast, transaction.timestamp)
            latest[ObjectIdentifier(store)] = time
            return time
        }
        return found.indices.sorted { (times[$0], $0) < (times[$1], $1) }.map { found[$0] }
    }

    /// The number after which the requested transactions of `store` begin; `nil` if there are none.
    ///
    /// - Throws: 134301 if later transactions were removed, or if the store's history ends before that number because
    ///   the store was restored to an older state.
    private func place(of request: NSPersistentHistoryChangeRequest, in store: any RowStore) throws -> Int64? {
        if case .date(let date) = request.start {
            return try store.operations.firstHistoryNumber(after: date).map { max($0, 1) - 1 }
        }
        guard let number = request.token?.numbers[store.identifier ?? ""] else { return 0 }
        let removed = try store.operations.lastRemovedHistoryNumber()
        let last = try store.operations.lastHistoryNumber() ?? 0
        guard number < removed || number > last else { return number }
        let place = store.placeName
        let reason =
            number < removed
            ? "its transactions up to \(removed) were removed" : "its last transaction is \(last)"
        throw CoreDataError.make(
            134301,
            "The history token is no longer valid for \(place): it is of transaction \(number), but \(reason). "
                + "Read the store again and continue from currentPersistentHistoryToken(fromStores:).",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }

    // MARK: Removing

    private func remove(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
        let count = try coordinator.withLock {
            try storesWithHistory(request.affectedStores).reduce(0) { count, store in
                guard let end = try end(of: request, in: store) else { return count }
                return count + (try store.operations.deleteHistory(before: end))
            }
        }
        guard request.resultType == .count else { return NSPersistentHistoryResult(true, type: .statusOnly) }
        return NSPersistentHistoryResult(count, type: .count)
    }

    /// The number of the first transaction to keep.
    private func end(of request: NSPersistentHistoryChangeRequest, in store: any RowStore) throws -> Int64? {
        switch request.start {
        case .token(let token): return token?.numbers[store.identifier ?? ""]
        case .transaction(let transaction):
            return transaction.storeID == store.identifier ? transaction.transactionNumber : nil
        case .date(let date):
            // Read before the first kept transaction is looked up: later commits then have higher numbers.
            let last = try store.operations.lastHistoryNumber() ?? 0
            let first = try store.operations.firstHistoryNumber(
                after: Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextDown))
            if let first { return first }
            return last == .max ? last : last + 1
        }
    }

    private func storesWithHistory(_ affected: [NSPersistentStore]?) throws -> [any RowStore] {
        let stores = affected.map(coordinator.rowStores(among:)) ?? coordinator.rowStores
        let withHistory = try stores.filter { try $0.operations.lastHistoryNumber() != nil }
        guard withHistory.isEmpty else { return withHistory }
        let places = stores.map { $0.url?.path ?? "" }.joined(separator: ", ")
        throw CoreDataError.make(
            134091, "No history is recorded in \(places). Add the store with NSPersistentHistoryTrackingKey.")
    }

    private func object(
        for transaction: StoreTransaction, of store: any RowStore, token: NSPersistentHistoryToken
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
    /// The position in the histories of `stores` after each one's last transaction; `nil` or an empty array means all
    /// stores of the coordinator. May be called on any queue. One query per store, under the coordinator's lock.
    ///
    /// - Returns: `nil` if none of the stores keeps a history, or one cannot be read.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let named = (stores ?? []).compactMap { $0 as? NSPersistentStore }
        return token(of: named.isEmpty ? rowStores : rowStores(among: named)) { try $0.lastHistoryNumber() }
    }

    /// The token after this coordinator's last transaction in each store. Queries only stores that this coordinator
    /// has not written to: on a server each query would add a round trip to each save.
    final var tokenOfLastSave: NSPersistentHistoryToken? {
        token(of: rowStores) { try $0.lastOwnHistoryNumber ?? $0.lastHistoryNumber() }
    }

    private func token(
        of stores: [any RowStore], _ number: (any StoreOperations) throws -> Int64?
    ) -> NSPersistentHistoryToken? {
        withLock {
            var numbers: [String: Int64] = [:]
            for store in stores {
                guard let last = try? number(store.operations) else { continue }
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
