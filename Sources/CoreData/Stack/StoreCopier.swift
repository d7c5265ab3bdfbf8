import Foundation

/// Copies all rows of a store to another, empty one of any type.
///
/// Uses only operations of all store types, and has all rows in memory. Run under the coordinator's lock, with the
/// coordinator's model for both.
struct StoreCopier {
    let source: any RowStore
    let destination: any RowStore
    /// The entities that both stores have.
    let entities: [NSEntityDescription]

    private var newIDs: [NSManagedObjectID: NSManagedObjectID] = [:]
    private var rows: [(id: NSManagedObjectID, row: RowSnapshot)] = []

    init(from source: any RowStore, to destination: any RowStore, entities: [NSEntityDescription]) {
        self.source = source
        self.destination = destination
        self.entities = entities
    }

    /// Copies all rows to the other store.
    ///
    /// - Returns: the IDs of the new rows, by those of the old rows.
    mutating func run() throws -> [NSManagedObjectID: NSManagedObjectID] {
        try readRows()
        let made = try destination.operations.obtainPermanentIDs(for: rows.map(\.id.entity))
        for (row, id) in zip(rows, made) { newIDs[row.id] = id }
        var changes = StoreChangeSet()
        let positions = try orderedPositions()
        for (old, row) in rows {
            guard let id = newIDs[old] else { continue }
            changes.inserted.append(IdentifiedRow(id: id, row: .make(row.values.map(moved), version: 1)))
            changes.insertedPositions[id] = positions[old]
        }
        changes.toMany = try pairs()
        try destination.operations.save(changes)
        return newIDs
    }

    private mutating func readRows() throws {
        for root in entities where !entities.contains(where: { $0 === root.superentity }) {
            var query = StoreQuery(entity: root)
            query.keepsUncoded = true
            let found = try source.operations.fetch(query)
            rows += zip(found.keys, found.rows).map { (source.operations.objectID(for: $0), $1) }
        }
    }

    private func moved(_ value: SlotValue) -> SlotValue {
        guard case .reference(let id) = value else { return value }
        return newIDs[id].map(SlotValue.reference) ?? .null
    }

    // MARK: Relationships

    /// For each wanted relationship, its owners and their destinations, in order.
    private func contents(
        of wanted: (NSRelationshipDescription) -> Bool
    ) throws -> [(NSRelationshipDescription, [NSManagedObjectID: [NSManagedObjectID]])] {
        var result: [(NSRelationshipDescription, [NSManagedObjectID: [NSManagedObjectID]])] = []
        for group in Dictionary(grouping: rows.map(\.id), by: { ObjectIdentifier($0.entity) }).values {
            for relationship in group[0].entity.layout.toManyRelationships {
                guard !relationship.isTransient, wanted(relationship) else { continue }
                result.append((relationship, try source.operations.destinations(of: relationship, from: group)))
            }
        }
        return result
    }

    private func pairs() throws -> [StoreToManyChange] {
        let wanted = { (relationship: NSRelationshipDescription) in
            relationship.writesPairs || relationship.isOrdered && relationship.inverseRelationship?.isToMany == true
        }
        return try contents(of: wanted).flatMap { relationship, owners in
            owners.compactMap { owner, members -> StoreToManyChange? in
                let members = members.compactMap { newIDs[$0] }
                guard !members.isEmpty, let owner = newIDs[owner] else { return nil }
                return StoreToManyChange(
                    relationship: relationship, owner: owner, added: relationship.writesPairs ? members : [],
                    removed: [], order: relationship.isOrdered ? members : nil)
            }
        }
    }

    /// The positions of rows in ordered relationships whose foreign key they have, by old ID.
    private func orderedPositions() throws -> [NSManagedObjectID: [Int: Int]] {
        var result: [NSManagedObjectID: [Int: Int]] = [:]
        let wanted = { (relationship: NSRelationshipDescription) in
            relationship.isOrdered && relationship.inverseRelationship.map { !$0.isToMany } ?? false
        }
        for (relationship, owners) in try contents(of: wanted) {
            guard let inverse = relationship.inverseRelationship else { continue }
            for members in owners.values {
                for (index, member) in members.enumerated() {
                    guard case .toOne(let slot) = member.entity.layout.place(of: inverse.name) else { continue }
                    result[member, default: [:]][slot] = index
                }
            }
        }
        return result
    }
}
