import Foundation

// Limits are exact here. Apple's store applies offset and limit first and the unsaved changes afterwards, so pages are
// approximate while there are changes. Here the store is asked for as many more rows as changes could remove, with
// offset 0, and the result is cut after the changes are applied: the same result as a fetch after a save.

/// The unsaved changes of a context that affect one fetch.
struct PendingOverlay {
    private let context: NSManagedObjectContext
    /// The changed and deleted objects of the plan's entity: the store's results for them are ignored.
    let touched: Set<NSManagedObjectID>
    /// The new and changed objects that match, in no particular order.
    let matching: [NSManagedObject]

    /// - Returns: `nil` if no unsaved change affects the plan.
    /// - Throws: 134060 for a predicate that does not fit the entity.
    init?(_ plan: FetchPlan, in context: NSManagedObjectContext) throws {
        self.context = context
        let changes = context.changes
        let changed = changes.updated.all.filter { plan.includes($0.entity) }
        let deleted = changes.deleted.all.filter { plan.includes($0.entity) }
        let inserted = changes.inserted.all.filter { plan.includes($0.entity) }
        guard !(changed.isEmpty && deleted.isEmpty && inserted.isEmpty) else { return nil }
        touched = Set((changed + deleted).map(\.objectID))
        let compiled = try plan.predicate.map { try CompiledPredicate($0.syntaxTree, entity: plan.entity) }
        matching = (inserted + changed).filter { object in
            Self.isIn(plan.stores, object) && plan.restriction?.contains(object.objectID) ?? true
                && compiled?.evaluate(object) ?? true
        }
    }

    /// The maximum number of rows that the changes remove from the store's results.
    var removable: Int { touched.count }

    /// True if the object belongs to one of `stores`, or is new and has no store yet.
    private static func isIn(_ stores: [any RowStore], _ object: NSManagedObject) -> Bool {
        guard let store = object.objectID.persistentStore else { return true }
        return stores.contains { $0 === store }
    }
}

/// One result of a fetch: a row that the store found, or an object with unsaved changes.
enum FetchedItem {
    /// The index in ``FoundRows``.
    case found(Int)
    case pending(NSManagedObject)
}

extension PendingOverlay {
    /// Applies the unsaved changes to the store's results, in the plan's order.
    ///
    /// Cost: a pass over the keys, and a binary search for each matching object.
    func apply(to found: FoundRows, _ plan: FetchPlan) throws -> [FetchedItem] {
        let kept = kept(of: found)
        guard !matching.isEmpty else { return kept.map(FetchedItem.found) }
        guard !plan.sortDescriptors.isEmpty else {
            return kept.map(FetchedItem.found) + Self.inOrderOfCreation(matching).map(FetchedItem.pending)
        }
        let ordering = try ObjectOrdering(plan.sortDescriptors, entity: plan.entity)
        return try merge(kept, found, ordering.sorted(matching), ordering)
    }

    private func kept(of found: FoundRows) -> [Int] {
        guard !touched.isEmpty else { return Array(0..<found.count) }
        guard found.namedIDs.isEmpty else {
            // A result with unsaved changes is not kept here. An object's flags show that even if its ID has become
            // permanent since.
            return found.namedIDs.indices.filter { index in
                context.registry.registered(found.namedIDs[index])?.flags.isDisjoint(with: .unsaved) ?? true
            }
        }
        let keys = Set(touched.compactMap(\.rowKey))
        return found.keys.indices.filter { index in
            !keys.contains(found.keys[index]) || !touched.contains(found.id(at: index))
        }
    }

    /// Merges two sorted lists: finds the position of each addition by binary search.
    private func merge(
        _ kept: [Int], _ found: FoundRows, _ additions: [NSManagedObject], _ ordering: ObjectOrdering
    ) throws -> [FetchedItem] {
        var sets: [Int: RowSet] = [:]
        func readable(_ index: Int) throws -> any RowReadable {
            if !found.namedIDs.isEmpty {
                return context.registry.object(for: found.namedIDs[index], row: found.row(at: index))
            }
            if let known = sets[index] { return known.rows[0] }
            let id = found.id(at: index)
            let store = found.store(at: index)
            // A row that was deleted after its key was read sorts like one without values.
            let row = try found.row(at: index) ?? store.operations.rows(for: [id])[id]
            let blank = RowSnapshot.blank(id.entity.layout)
            let made = RowSet([(id, row ?? blank)], in: store)
            sets[index] = made
            return made.rows[0]
        }
        var result: [FetchedItem] = []
        result.reserveCapacity(kept.count + additions.count)
        var position = 0
        for addition in additions {
            let end = try kept[position...].partitioningIndex {
                ordering.compare(try readable($0), addition) != .orderedAscending
            }
            result += kept[position..<end].lazy.map(FetchedItem.found)
            result.append(.pending(addition))
            position = end
        }
        result += kept[position...].lazy.map(FetchedItem.found)
        for set in sets.values { if let failure = set.failure { throw failure } }
        return result
    }

    private static func inOrderOfCreation(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        objects.sorted { ObjectOrdering.compare($0.objectID, $1.objectID) == .orderedAscending }
    }
}
