/// Summarises transactions of a store's history.
enum HistoryChanges {
    /// The combined changes of `transactions`, oldest first. A row inserted and then updated counts as inserted. A
    /// row inserted and then deleted counts as deleted, because a context may have read it in between. Rows are in
    /// the order of their first change.
    static func coalesced(_ transactions: [StoreTransaction], of store: any RowStore) -> CommittedChanges {
        var kinds: [RowKey: StoreTransaction.Kind] = [:]
        var order: [RowKey] = []
        for change in transactions.lazy.flatMap(\.changes) {
            let before = kinds[change.key]
            if before == nil { order.append(change.key) }
            kinds[change.key] =
                switch (before, change.kind) {
                case (.insert, .update): .insert
                case (_, let kind): kind
                }
        }
        var changes = CommittedChanges()
        var seen: Set<RowKey> = []
        for key in order where seen.insert(key).inserted {
            guard let kind = kinds[key] else { continue }
            let id = store.operations.objectID(for: key)
            switch kind {
            case .insert: changes.inserted.append(id)
            case .delete: changes.deleted.append(id)
            case .update: changes.updated.append(id)
            }
        }
        return changes
    }

    /// The combined changes in parts of several rows. A transaction is never split, and the caller can do other work
    /// between merging two parts.
    static func parts(of transactions: [StoreTransaction], of store: any RowStore) -> [CommittedChanges] {
        var parts: [CommittedChanges] = []
        var group: [StoreTransaction] = []
        var rows = 0
        for (number, transaction) in transactions.enumerated() {
            group.append(transaction)
            rows += transaction.changes.count
            guard rows >= rowsOfPart || number == transactions.count - 1 else { continue }
            let part = coalesced(group, of: store)
            if !part.isEmpty { parts.append(part) }
            (group, rows) = ([], 0)
        }
        return parts
    }

    /// Minimum number of rows in a part, except the last.
    private static let rowsOfPart = 8
}
