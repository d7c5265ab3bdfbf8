import Foundation

/// Whatever gives rows and destinations for IDs: a store, a coordinator, a parent.
package protocol RowsByID {
    /// The rows of `ids`, which are all of entities that are known here, in their order; `nil` for a row that does not exist.
    ///
    /// - Throws: if one of the rows cannot be read, though it may exist.
    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?]

    /// The destinations of a to-many relationship for each of `ids`, in their order. Each destination is there once, in the
    /// relationship's order if it has one. A row that does not exist has none.
    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]
}

extension RowsByID {
    /// The rows that exist, by ID.
    package func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        result.reserveCapacity(ids.count)
        for (id, row) in zip(ids, try rows(inOrderOf: ids)) { result[id] = row }
        return result
    }

    /// The destinations by ID.
    package func destinations(
        of relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(
            zip(ids, try destinations(of: relationship, inOrderOf: ids)), uniquingKeysWith: { first, _ in first })
    }
}
