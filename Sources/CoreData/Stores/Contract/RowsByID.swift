import Foundation

/// A source of rows and destinations by ID: a store, a coordinator, or a parent context.
package protocol RowsByID {
    /// Returns the rows of `ids`, whose entities must be known here, in their order; `nil` for a row that does not exist.
    ///
    /// - Throws: if one of the rows cannot be read, though it may exist.
    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?]

    /// Returns the destinations of a to-many relationship for each of `ids`, in their order. Each destination occurs
    /// once, in the relationship's order if it has one. A row that does not exist has none.
    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]
}

extension RowsByID {
    /// Returns the rows that exist, by ID.
    package func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        result.reserveCapacity(ids.count)
        for (id, row) in zip(ids, try rows(inOrderOf: ids)) { result[id] = row }
        return result
    }

    /// Returns the destinations by ID.
    package func destinations(
        of relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(
            zip(ids, try destinations(of: relationship, inOrderOf: ids)), uniquingKeysWith: { first, _ in first })
    }
}
