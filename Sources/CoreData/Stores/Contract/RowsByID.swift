import Foundation

/// A source of rows and destinations by ID: a store, a coordinator, or a parent context.
package protocol RowsByID {
    /// Returns the rows of `ids`, whose entities must be known here. The result has no entry for a row that does not
    /// exist; its object is then treated as deleted.
    ///
    /// - Throws: if one of the rows cannot be read, though it may exist.
    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?]

    /// Returns the destinations in the order of `ids`.
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
