import Foundation

/// Filters transactions or changes by the fetch request of a history request.
struct HistorySelection {
    /// True if the request is for changes, false if for transactions.
    let isOfChanges: Bool
    private let predicate: CompiledPredicate?
    private let order: [NSSortDescriptor]
    private let limit: Int
    private let offset: Int

    /// - Parameter check: called with each token in a before or after comparison; throws to refuse it.
    /// - Throws: 134060 if the request is for an entity outside the history, or names an unknown key.
    init(
        _ request: NSFetchRequest<NSFetchRequestResult>, check: (NSPersistentHistoryToken) throws -> Void
    ) throws {
        let entities = HistoryEntities.model.entitiesByName
        guard let name = request.entityName, let entity = entities[name] else {
            throw CoreDataError.make(
                134060,
                "The fetch request of a history request has the entity \(request.entityName ?? "(none)"). Use "
                    + "entityDescription(with:) of NSPersistentHistoryTransaction or NSPersistentHistoryChange."
            )
        }
        isOfChanges = entity.name == "Change"
        predicate = try request.predicate.map { predicate in
            let tree = try PredicateResolver(entity: entity).resolve(predicate.syntaxTree)
            return try CompiledPredicate(tree.comparingTokens(check))
        }
        order = request.sortDescriptors ?? []
        for key in order.map(\.storeSortKey) where key.comparison != .custom {
            _ = try ModelKeyPath(key.keyPath, from: entity)
        }
        limit = max(0, request.fetchLimit)
        offset = max(0, request.fetchOffset)
    }

    /// The matching transactions; for a request for changes, those with matching changes, reduced to these changes.
    func chosen(from transactions: [NSPersistentHistoryTransaction]) -> [NSPersistentHistoryTransaction] {
        guard isOfChanges else { return cut(sorted(transactions.filter(matches))) }
        let changes = cut(sorted(transactions.flatMap { $0.changes ?? [] }.filter(matches)))
        var found: [ObjectIdentifier: Int] = [:]
        var result: [(transaction: NSPersistentHistoryTransaction, changes: [NSPersistentHistoryChange])] = []
        for change in changes {
            guard let transaction = change.transaction else { continue }
            if let place = found[ObjectIdentifier(transaction)] {
                result[place].changes.append(change)
            } else {
                found[ObjectIdentifier(transaction)] = result.count
                result.append((transaction, [change]))
            }
        }
        for (transaction, changes) in result { transaction.changes = changes }
        return result.map(\.transaction)
    }

    private func matches(_ object: NSObject) -> Bool { predicate?.evaluate(any: object) ?? true }

    private func cut<Element>(_ list: [Element]) -> [Element] {
        let rest = list.dropFirst(offset)
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }

    /// Sorts the elements. Equal elements stay in the order of the history.
    private func sorted<Element: NSObject>(_ list: [Element]) -> [Element] {
        guard !order.isEmpty else { return list }
        return list.sorted { left, right in
            for descriptor in order {
                let result = compare(left, right, descriptor)
                if result != .orderedSame { return result == .orderedAscending }
            }
            return false
        }
    }

    private func compare(_ left: NSObject, _ right: NSObject, _ descriptor: NSSortDescriptor) -> ComparisonResult {
        let key = descriptor.storeSortKey
        let (first, second) = descriptor.ascending ? (left, right) : (right, left)
        let a = KeyReader.read(key.keyPath, of: PredicateValue(first))
        let b = KeyReader.read(key.keyPath, of: PredicateValue(second))
        if let code = descriptor.customComparator {
            return code(a.foundationValue ?? NSNull(), b.foundationValue ?? NSNull())
        }
        return ValueOrder.compareForSorting(a, b, key.comparison)
    }
}
