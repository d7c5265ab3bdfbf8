import Foundation
import PredicateSyntax

/// A fetch request resolved against a context, with its entity, stores, predicate and sort descriptors.
struct FetchPlan {
    let entity: NSEntityDescription
    let includesSubentities: Bool
    private(set) var stores: [any RowStore]
    /// The condition of the fetch; `nil` if all objects match.
    let predicate: NSPredicate?
    private(set) var sortDescriptors: [NSSortDescriptor]
    private(set) var limit: Int
    private(set) var offset: Int
    /// The IDs of the only rows to search; `nil` for all.
    private(set) var restriction: Set<NSManagedObjectID>?

    /// - Throws: 134060 if the request has no entity, the model has none of its name, or there is no store.
    init(_ request: NSFetchRequest<NSFetchRequestResult>, coordinator: NSPersistentStoreCoordinator) throws {
        entity = try Self.entity(of: request, in: coordinator.managedObjectModel)
        includesSubentities = request.includesSubentities
        stores = try Self.stores(for: entity, of: request, in: coordinator)
        predicate = Self.significant(request.predicate)
        sortDescriptors = request.sortDescriptors ?? []
        limit = max(0, request.fetchLimit)
        offset = max(0, request.fetchOffset)
    }

    /// The query for the stores.
    var query: StoreQuery {
        var query = StoreQuery(entity: entity)
        query.includesSubentities = includesSubentities
        query.predicate = restrictedPredicate
        query.sortKeys = sortDescriptors.map(\.storeSortKey)
        query.limit = limit
        query.offset = offset
        return query
    }

    /// The predicate with constants converted to the types of the entity's attributes. One that uses the current time
    /// is not resolved, so it uses the time of each evaluation.
    var resolvedPredicate: NSPredicate? {
        guard let predicate, !predicate.syntaxTree.looksAtClock,
            let tree = try? PredicateResolver(entity: entity).resolve(predicate.syntaxTree)
        else { return predicate }
        return NSPredicate.make(tree)
    }

    private var restrictedPredicate: PredicateTree? {
        guard let restriction else { return predicate?.syntaxTree }
        let amongThem = PredicateTree.comparison(
            ComparisonTree(left: .evaluatedObject, right: .constant(Array(restriction)), comparison: .in))
        return predicate.map { .and([amongThem, $0.syntaxTree]) } ?? amongThem
    }

    /// The same plan for the rows of `ids` only, without limit and offset.
    func among(_ ids: some Sequence<NSManagedObjectID>) -> FetchPlan {
        var plan = unlimited
        plan.restriction = restriction?.intersection(ids) ?? Set(ids)
        return plan
    }

    /// The same plan without limit and offset.
    var unlimited: FetchPlan {
        var plan = self
        plan.limit = 0
        plan.offset = 0
        return plan
    }

    /// The same plan with another limit and offset.
    func limited(to limit: Int, offset: Int) -> FetchPlan {
        var plan = self
        plan.limit = limit
        plan.offset = offset
        return plan
    }

    /// The same plan for `stores` only.
    func limited(to stores: [any RowStore]) -> FetchPlan {
        var plan = self
        plan.stores = stores
        return plan
    }

    /// The same plan in any order.
    var unsorted: FetchPlan {
        var plan = self
        plan.sortDescriptors = []
        return plan
    }

    /// True if objects of `other` are included.
    func includes(_ other: NSEntityDescription) -> Bool {
        other === entity || (includesSubentities && other.isKindOf(entity: entity))
    }

    /// Removes the elements before the offset and after the limit from `list`, which is complete.
    func cut<Element>(_ list: [Element]) -> [Element] {
        guard limit > 0 || offset > 0 else { return list }
        guard offset < list.count else { return [] }
        let end = limit > 0 ? min(list.count, offset.addingUpToMaximum(limit)) : list.count
        return Array(list[offset..<end])
    }

    /// The number of results, of `count`, between offset and limit.
    func cut(_ count: Int) -> Int {
        let rest = max(0, count - offset)
        return limit > 0 ? min(rest, limit) : rest
    }

    // MARK: Resolving

    /// The entity that a request names.
    ///
    /// - Throws: 134060 if the model has none of that name.
    static func entity(
        of request: NSFetchRequest<NSFetchRequestResult>, in model: NSManagedObjectModel
    ) throws -> NSEntityDescription {
        guard let name = request.entityName else {
            throw CoreDataError.make(
                134060, "A fetch request has no entity. Set it before executing the request.")
        }
        if let entity = model.entitiesByName[name] {
            if request.entity == nil { request.entity = entity }
            return entity
        }
        let names = model.entitiesByName.keys.sorted()
        let hint =
            NearestName.of(name, among: names).map { "did you mean \($0)?" }
            ?? "its entities are \(names.joined(separator: ", "))."
        throw CoreDataError.make(134060, "The model has no entity named \(name): \(hint)")
    }

    private static func stores(
        for entity: NSEntityDescription, of request: NSFetchRequest<NSFetchRequestResult>,
        in coordinator: NSPersistentStoreCoordinator
    ) throws -> [any RowStore] {
        let holding = coordinator.stores(holding: entity)
        guard !holding.isEmpty else {
            throw CoreDataError.make(
                134060,
                "Cannot fetch objects of \(entity.name ?? ""): the coordinator has no store with this entity.")
        }
        guard let affected = request.affectedStores else { return holding }
        return holding.filter { store in affected.contains { $0 === store } }
    }

    /// Returns the predicate, or `nil` for one that matches everything.
    private static func significant(_ predicate: NSPredicate?) -> NSPredicate? {
        guard let predicate else { return nil }
        switch predicate.syntaxTree {
        case .constant(true): return nil
        case .and(let parts) where parts.isEmpty: return nil
        default: return predicate
        }
    }
}
