import Foundation

/// Updates a list that shows an older state of its store, using the store's history.
///
/// Rows are read in a separate, empty context: the objects of other contexts may be stale or unsaved.
struct CachedListUpdate {
    let store: any RowStore
    /// Histories with more transactions are not read, because reading holds the coordinator's lock.
    var mostTransactions = Int64.max

    /// The changes that were committed since a list was made.
    struct Changes {
        /// The state after the changes.
        let origin: ListOrigin
        fileprivate let touched: TouchedObjects
        /// True if the store has not changed since the list was made.
        let isEmpty: Bool
    }

    /// Maximum number of changes that are always applied. A larger number is applied if it is at most a tenth of the
    /// list.
    private static let alwaysFew = 1_000

    /// The changes since `origin` that may affect the list; `nil` if they are unknown, too many, or of a kind that the
    /// history does not record (changes of related objects).
    func changes(since origin: ListOrigin, of list: LoadedResults) -> Changes? {
        guard let coordinator = store.persistentStoreCoordinator else { return nil }
        return coordinator.withLock {
            guard let present = try? ListOrigin(of: store) else { return nil }
            if present == origin { return Changes(origin: present, touched: TouchedObjects(), isEmpty: true) }
            guard list.definition.plan.limit == 0, list.definition.plan.offset == 0, let number = origin.historyNumber,
                let last = present.historyNumber, last > number,
                last - number <= mostTransactions, let transactions = try? store.operations.history(after: number),
                // If the history was pruned, or a writer did not record its changes, the changes are unknown.
                transactions.first?.number == number + 1, transactions.last?.number == last
            else { return nil }
            return touched(by: transactions, in: list).map { Changes(origin: present, touched: $0, isEmpty: false) }
        }
    }

    private func touched(by transactions: [StoreTransaction], in list: LoadedResults) -> TouchedObjects? {
        let changes = HistoryChanges.coalesced(transactions, of: store)
        let count = changes.inserted.count + changes.updated.count + changes.deleted.count
        guard count <= max(Self.alwaysFew, list.contents.rowCount / 10) else { return nil }
        let related = RelatedObjects(list.definition)
        var touched = TouchedObjects()
        for id in changes.inserted + changes.updated {
            if related?.looks(at: id.entity) ?? false { return nil }
            if list.definition.plan.includes(id.entity) { touched.noteChanged([id]) }
        }
        touched.noteDeleted(changes.deleted.filter { list.definition.plan.includes($0.entity) })
        return touched
    }

    /// The list with `changes`; `nil` if the rows cannot be read, or the store has changed again.
    func apply(_ changes: Changes, to list: LoadedResults) -> ListContents? {
        guard let coordinator = store.persistentStoreCoordinator else { return nil }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let contents = context.performAndWait { () -> ListContents? in
            try? ListFollower(definition: list.definition, context: context).edit(list.contents, changes.touched)
                .contents
        }
        guard let present = try? coordinator.withLock({ try ListOrigin(of: store) }), present == changes.origin else {
            return nil
        }
        return contents
    }
}
