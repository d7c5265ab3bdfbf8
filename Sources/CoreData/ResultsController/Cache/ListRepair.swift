import Foundation

/// Brings a list that shows an older state of its store to the present one, by the store's history.
///
/// Rows are read in a context of its own, which holds nothing: what other contexts hold may be older than the store, or
/// not saved.
struct ListRepair {
    let store: any RowStore
    /// More transactions than this are not looked at: they are read under the coordinator's lock.
    var mostTransactions = Int64.max

    /// What was committed since a list was made.
    struct Changes {
        /// The state that the changes lead to.
        let origin: ListOrigin
        fileprivate let touched: TouchedObjects
        /// Whether the store is still as the list shows it.
        let isEmpty: Bool
    }

    /// More changes than this, and more than a tenth of the list, are not worth applying.
    private static let alwaysFew = 1_000

    /// The changes since `origin` that may concern the list; `nil` if they are not known, too many, or of a kind that the
    /// history does not tell (those of related objects).
    func changes(since origin: ListOrigin, of list: LoadedResults) -> Changes? {
        guard let coordinator = store.persistentStoreCoordinator else { return nil }
        return coordinator.withLock {
            guard let present = try? ListOrigin(of: store) else { return nil }
            if present == origin { return Changes(origin: present, touched: TouchedObjects(), isEmpty: true) }
            guard list.definition.plan.limit == 0, list.definition.plan.offset == 0, let number = origin.historyNumber,
                let last = present.historyNumber, last > number,
                last - number <= mostTransactions, let transactions = try? store.operations.history(after: number),
                // A history that was pruned, or a writer that left no trace, tells nothing.
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

    /// The list with `changes`; `nil` if the rows cannot be read, or the store was changed again meanwhile.
    func apply(_ changes: Changes, to list: LoadedResults) -> ListContents? {
        guard let coordinator = store.persistentStoreCoordinator else { return nil }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let contents = context.performAndWait { () -> ListContents? in
            try? ListEditor(definition: list.definition, context: context).edit(list.contents, changes.touched).contents
        }
        guard let present = try? coordinator.withLock({ try ListOrigin(of: store) }), present == changes.origin else {
            return nil
        }
        return contents
    }
}
