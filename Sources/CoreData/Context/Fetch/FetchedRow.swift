import Foundation

/// A row as predicates and orderings read it: committed values, without an object in any context.
///
/// Used if a store cannot do a part of a fetch. Destinations are read for all rows of a set at once.
final class FetchedRow: RowReadable {
    let objectID: NSManagedObjectID
    let snapshot: RowSnapshot
    private unowned let set: RowSet

    init(objectID: NSManagedObjectID, snapshot: RowSnapshot, set: RowSet) {
        self.objectID = objectID
        self.snapshot = snapshot
        self.set = set
    }

    var rowLayout: EntityLayout { objectID.entity.layout }

    func slotValue(_ slot: Int) -> SlotValue { snapshot.value(slot) }

    func toOneDestination(_ slot: Int) -> (any RowReadable)? { set.toOneDestination(of: self, slot: slot) }

    func toManyDestinations(_ number: Int) -> [any RowReadable] { set.toManyDestinations(of: self, number: number) }

    func value(forKey key: String) -> Any? {
        switch rowLayout.place(of: key) {
        case .attribute(let slot): value(inAttribute: slot)
        case .toOne(let slot): toOneDestination(slot)
        case .toMany(let number): toManyDestinations(number)
        case .fetched, nil: nil
        }
    }

    private func value(inAttribute slot: Int) -> Any? {
        guard let attribute = rowLayout.attribute(at: slot) else { return nil }
        return AttributeCoercion.value(snapshot.value(slot), type: attribute.attributeType)
    }
}

/// Rows that were read together, and the destinations read for them.
///
/// Belongs to one fetch; used under the coordinator's lock. The first use of a relationship reads it for all rows of
/// the set: at most two queries, and one more set. An error is kept, and thrown after the evaluation.
final class RowSet {
    private let store: any RowStore
    private(set) var rows: [FetchedRow] = []
    /// The sets of destinations by the relationship's name. Not by its number: rows of one set may be of several
    /// entities.
    private var destinationSets: [String: RowSet] = [:]
    private var toManyIDs: [String: [NSManagedObjectID: [NSManagedObjectID]]] = [:]
    private lazy var rowsByID = Dictionary(rows.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    private var ownFailure: (any Error)?

    convenience init(
        _ content: some Collection<(id: NSManagedObjectID, snapshot: RowSnapshot)>, in store: any RowStore
    ) {
        self.init(content, in: store, check: {})
    }

    /// - Parameter check: called for each row; its errors are rethrown.
    init(
        _ content: some Collection<(id: NSManagedObjectID, snapshot: RowSnapshot)>, in store: any RowStore,
        check: () throws -> Void
    ) rethrows {
        self.store = store
        rows.reserveCapacity(content.count)
        for (id, snapshot) in content {
            try check()
            rows.append(FetchedRow(objectID: id, snapshot: snapshot, set: self))
        }
    }

    /// The first error that occurred while a relationship was read for this set of rows or for the sets of its
    /// destinations.
    var failure: (any Error)? { ownFailure ?? destinationSets.values.lazy.compactMap(\.failure).first }

    func toOneDestination(of row: FetchedRow, slot: Int) -> FetchedRow? {
        guard case .reference(let id) = row.snapshot.value(slot) else { return nil }
        let name = row.rowLayout.slots[slot].name
        return destinations(named: name) { self.toOneReferences(named: name) }.rowsByID[id]
    }

    func toManyDestinations(of row: FetchedRow, number: Int) -> [FetchedRow] {
        let relationship = row.rowLayout.toManyRelationships[number]
        let name = relationship.name
        let lists = lists(of: relationship)
        let set = destinations(named: name) { Set(lists.values.joined()) }
        return (lists[row.objectID] ?? []).compactMap { set.rowsByID[$0] }
    }

    private func toOneReferences(named name: String) -> Set<NSManagedObjectID> {
        var ids: Set<NSManagedObjectID> = []
        for row in rows {
            guard case .toOne(let slot) = row.rowLayout.place(of: name),
                case .reference(let id) = row.snapshot.value(slot)
            else { continue }
            ids.insert(id)
        }
        return ids
    }

    private func lists(of relationship: NSRelationshipDescription) -> [NSManagedObjectID: [NSManagedObjectID]] {
        if let known = toManyIDs[relationship.name] { return known }
        var read: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        do {
            read = try store.operations.destinations(of: relationship, from: rows.map(\.objectID))
        } catch {
            ownFailure = ownFailure ?? error
        }
        toManyIDs[relationship.name] = read
        return read
    }

    private func destinations(named name: String, ids: () -> Set<NSManagedObjectID>) -> RowSet {
        if let known = destinationSets[name] { return known }
        var content: [(id: NSManagedObjectID, snapshot: RowSnapshot)] = []
        do {
            content = try store.operations.rows(for: Array(ids())).map { (id: $0.key, snapshot: $0.value) }
        } catch {
            ownFailure = ownFailure ?? error
        }
        let made = RowSet(content, in: store)
        destinationSets[name] = made
        return made
    }
}
