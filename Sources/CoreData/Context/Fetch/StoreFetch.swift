import Foundation
import PredicateSyntax

/// The exact results of a fetch from stores or a parent: matched, sorted and cut.
struct FoundRows {
    /// One key per result, in order; empty if a parent returned the results.
    var keys: [RowKey] = []
    /// One ID per result, in order, if a parent returned the results: its new objects have no key.
    var namedIDs: [NSManagedObjectID] = []
    /// One row per key, or empty if rows were not requested.
    var rows: RowList = []
    /// The runs of equal values, if they were requested and the only store could find them: see
    /// ``StoreQueryResult/groups``.
    var groups: [RowGroup]?
    /// The values read with the keys, if the only store could read them: see ``StoreQueryResult/extraValues``.
    var extraValues: [[SlotValue]]?
    /// The stores that were queried.
    var stores: [any RowStore] = []
    /// The index in `stores` of each result's store; empty if there is only one.
    var owners: [UInt8] = []

    var count: Int { namedIDs.isEmpty ? keys.count : namedIDs.count }

    func store(at index: Int) -> any RowStore { stores[owners.isEmpty ? 0 : Int(owners[index])] }

    func id(at index: Int) -> NSManagedObjectID {
        namedIDs.isEmpty ? store(at: index).operations.objectID(for: keys[index]) : namedIDs[index]
    }

    /// The IDs of all results, in order.
    var ids: [NSManagedObjectID] {
        guard namedIDs.isEmpty else { return namedIDs }
        guard owners.isEmpty, let operations = stores.first?.operations else { return keys.indices.map(id) }
        return keys.map(operations.objectID)
    }

    func row(at index: Int) -> RowSnapshot? { rows.isEmpty ? nil : rows[index] }

    /// The results at `indexes`, in that order.
    func selecting(_ indexes: [Int]) -> FoundRows {
        FoundRows(
            keys: indexes.map { keys[$0] }, rows: RowList(rows.isEmpty ? [] : indexes.map { rows[$0] }), stores: stores,
            owners: owners.isEmpty ? [] : indexes.map { owners[$0] })
    }
}

/// Queries the stores of a plan, and evaluates in memory, over rows and without objects, what a store cannot.
///
/// Runs under the coordinator's lock, directly on the stores. Cost: one query per store. If a store leaves a part of
/// the query unsupported, all rows of its wider result are read, and the relationships that predicate or order use,
/// once each.
struct StoreFetch {
    let plan: FetchPlan
    /// Called for each row that is evaluated in memory; throws to end the fetch.
    var check: () throws -> Void = {}

    /// - Parameter query: the plan's query, or one with another limit.
    func run(_ query: StoreQuery) throws -> FoundRows {
        guard plan.stores.count <= 256 else {
            throw CoreDataError.make(134060, "Cannot fetch from more than 256 stores at once.")
        }
        if plan.stores.count == 1 { return try run(query, in: plan.stores[0]) }
        return try runInAll(query)
    }

    private func run(_ query: StoreQuery, in store: any RowStore) throws -> FoundRows {
        var result = try store.operations.fetch(query)
        guard !result.unsupported.isEmpty else {
            return FoundRows(
                keys: result.keys, rows: result.rows, groups: result.groups, extraValues: result.extraValues,
                stores: [store])
        }
        let wider = FoundRows(keys: result.keys, rows: result.rows, stores: [store])
        var finished = try finish(try matching(wider, &result.unsupported), result.unsupported)
        finished = finished.selecting(cut(Array(finished.keys.indices), as: query))
        if !query.wantsRows { finished.rows = [] }
        return finished
    }

    /// Queries every store and merges the results in order.
    private func runInAll(_ query: StoreQuery) throws -> FoundRows {
        var part = query
        part.limit = query.limit == 0 ? 0 : query.limit.addingUpToMaximum(query.offset)
        part.offset = 0
        part.wantsRows = true
        var all = FoundRows(stores: plan.stores)
        for (place, store) in plan.stores.enumerated() {
            let found = try run(part, in: store)
            all.keys += found.keys
            all.rows += found.rows
            all.owners += Array(repeating: UInt8(place), count: found.count)
        }
        var sorted = try finish(all, plan.sortDescriptors.isEmpty ? [] : .sort)
        sorted = sorted.selecting(cut(Array(sorted.keys.indices), as: query))
        if !query.wantsRows { sorted.rows = [] }
        return sorted
    }

    // MARK: In memory

    /// The number of rows that are read and evaluated at a time, so that a cancelled fetch ends soon and rows that do
    /// not match use memory only briefly.
    private static let slice = 8_192

    /// The rows of a wider result. Rows that do not match are removed slice by slice if the predicate uses only the row
    /// itself; otherwise it stays unsupported, because the relationships that it uses are read once for all rows.
    private func matching(_ wider: FoundRows, _ unsupported: inout StoreQueryResult.Unsupported) throws -> FoundRows {
        let isMatched = unsupported.contains(.predicate) && plan.query.predicate?.looksAtOneRow(of: plan.entity) == true
        var kept = FoundRows(stores: wider.stores)
        for start in stride(from: 0, to: wider.count, by: Self.slice) {
            try check()
            let range = start..<min(start + Self.slice, wider.count)
            var part = FoundRows(
                keys: Array(wider.keys[range]), rows: RowList(wider.rows.isEmpty ? [] : range.map { wider.rows[$0] }),
                stores: wider.stores)
            try readRows(of: &part)
            if isMatched { part = try finish(part, .predicate) }
            kept.keys += part.keys
            kept.rows += part.rows
        }
        if isMatched { unsupported.remove(.predicate) }
        return kept
    }

    private func readRows(of found: inout FoundRows) throws {
        guard found.rows.isEmpty, !found.keys.isEmpty else { return }
        let ids = found.keys.indices.map { found.id(at: $0) }
        let rows = try found.stores[0].operations.rows(inOrderOf: ids)
        var present: [Int] = []
        for (index, row) in rows.enumerated() {
            guard let row else { continue }
            present.append(index)
            found.rows.append(row)
        }
        found.keys = present.map { found.keys[$0] }
    }

    /// Filters and sorts rows.
    private func finish(_ found: FoundRows, _ unsupported: StoreQueryResult.Unsupported) throws -> FoundRows {
        guard !unsupported.isEmpty else { return found }
        var readable: [FetchedRow] = []
        var sets: [RowSet] = []
        for place in found.stores.indices {
            let members = found.keys.indices.filter { found.owners.isEmpty || Int(found.owners[$0]) == place }
            let content = members.lazy.map { (id: found.id(at: $0), snapshot: found.rows[$0]) }
            let set = try RowSet(content, in: found.stores[place], check: check)
            readable += set.rows
            sets.append(set)
        }
        return try withExtendedLifetime(sets) {
            var indexes = Array(found.keys.indices)
            if unsupported.contains(.predicate), let predicate = plan.query.predicate {
                if predicate.holdsBlock {
                    throw CoreDataError.make(
                        134060,
                        "Problem with subpredicate BLOCKPREDICATE: stores cannot evaluate blocks. Fetch "
                            + "without it, then filter the objects with filtered(using:).")
                }
                let compiled = try CompiledPredicate(predicate, entity: plan.entity)
                try indexes.removeAll { index in
                    try check()
                    return !compiled.evaluate(readable[index])
                }
            }
            if unsupported.contains(.sort) {
                let ordering = try ObjectOrdering(plan.sortDescriptors, entity: plan.entity)
                indexes = try sorted(indexes, readable, ordering)
            }
            for set in sets { if let failure = set.failure { throw failure } }
            return found.selecting(indexes)
        }
    }

    /// Reads the sort values of each row once. Rows of several stores that compare equal keep the stores' order.
    private func sorted(_ indexes: [Int], _ rows: [FetchedRow], _ ordering: ObjectOrdering) throws -> [Int] {
        var values = ordering.values(ofRows: indexes.count)
        for index in indexes {
            try check()
            ordering.read(rows[index], into: &values)
        }
        return try ordering.sortedPlaces(of: values, id: { rows[indexes[$0]].objectID }, check: check).map {
            indexes[$0]
        }
    }

    private func cut(_ indexes: [Int], as query: StoreQuery) -> [Int] {
        guard query.offset < indexes.count else { return [] }
        let end = query.limit > 0 ? min(indexes.count, query.offset.addingUpToMaximum(query.limit)) : indexes.count
        return Array(indexes[query.offset..<end])
    }
}

extension PredicateTree {
    /// True if the predicate uses only attributes of the row.
    fileprivate func looksAtOneRow(of entity: NSEntityDescription) -> Bool {
        !holdsBlock && keyPaths.allSatisfy { $0.count == 1 && entity.attributesByName[$0[0]] != nil }
    }

    /// True if a part of the predicate is a block, which needs objects instead of rows.
    fileprivate var holdsBlock: Bool {
        switch self {
        case .opaque: true
        case .constant, .comparison: false
        case .and(let parts), .or(let parts): parts.contains(where: \.holdsBlock)
        case .not(let part): part.holdsBlock
        }
    }
}
